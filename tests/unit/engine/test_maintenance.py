"""What goes on beside searches: namespaces that close and open, backups, reindexing, snapshots, removal."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import engine
from engine import EngineClosed, InvalidRequest, NotFound
from engine.backend.embedded.opening import open_store
from engine.backend.embedded.pool import StorePool
from engine.backend.embedded.store import NamespaceStore
from engine.model.hits import Vectors
from engine.settings import EngineSettings, StorageSettings
from engine.storage.journal import changes_since
from tests.embedders import HashingEmbedder

SCHEMA = {"body": {"type": "string", "is_searchable": True}, "side": {"type": "string", "is_filterable": True}}
NAMES = ["one", "two", "three", "four", "five"]
TWO_OPEN = EngineSettings(agent="offline", storage=StorageSettings(open_namespaces=2))


def batch(name: str) -> list[dict[str, str]]:
    return [{"id": f"{name}{n}", "body": f"harbour of {name} number{n}x", "side": "lr"[n % 2]} for n in range(6)]


@contextmanager
def opened(folder: Path, embedder: HashingEmbedder | None = None) -> Iterator[engine.Engine]:
    with engine.open(folder, embedder=embedder or HashingEmbedder(), settings=TWO_OPEN) as quarry:
        yield quarry


@pytest.fixture
def quarry(tmp_path: Path) -> Generator[engine.Engine]:
    with opened(tmp_path / "data") as made:
        for name in NAMES:
            made.upsert(name, batch(name), SCHEMA)
        yield made


def answers(quarry: engine.Engine, name: str) -> list[object]:
    plain = quarry.retrieve(name, f"harbour number3x {name}", k=20)
    under = quarry.retrieve(name, "harbour", k=20, filters={"side": "l"}, mode="vector")
    return [(hit.document_id, round(hit.score, 4)) for hit in (*plain, *under)]


# -- least recent use


def test_answers_are_the_same_however_often_a_namespace_was_closed(quarry: engine.Engine) -> None:
    first = {name: answers(quarry, name) for name in NAMES}
    assert all(len(found) == 9 for found in first.values())
    for name in (*reversed(NAMES), *NAMES):
        assert answers(quarry, name) == first[name]
    assert quarry.check() == []


def test_what_is_written_to_a_namespace_outlives_its_closing(quarry: engine.Engine) -> None:
    for turn in range(2):
        for name in NAMES:
            quarry.upsert(name, [{"id": "moved", "body": f"turn{turn}t in {name}"}])
            quarry.delete(name, document_ids=[f"{name}{turn}"])
    for name in NAMES:
        assert [h.text for h in quarry.retrieve(name, "turn1t", k=1)] == [f"turn1t in {name}"]
        assert quarry.retrieve(name, "turn0t number0x number1x", mode="lexical") == []


def test_threads_on_more_namespaces_than_may_be_open_all_get_their_answers(quarry: engine.Engine) -> None:
    first = {name: answers(quarry, name) for name in NAMES}

    def read(name: str) -> bool:
        return all(answers(quarry, name) == first[name] for _ in range(6))

    with ThreadPoolExecutor(len(NAMES)) as pool:
        assert all(pool.map(read, NAMES))


class CountedStores:
    """Opens real stores and remembers which are open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data" / "namespaces"
        self.opened = 0

    def open(self, namespace: int) -> NamespaceStore:
        self.opened += 1
        return open_store(self.folder / str(namespace), TWO_OPEN)


@pytest.fixture
def stores(tmp_path: Path) -> CountedStores:
    with opened(tmp_path / "data") as quarry:
        for name in NAMES:
            quarry.upsert(name, batch(name), SCHEMA)
    return CountedStores(tmp_path)


def is_open(store: NamespaceStore) -> bool:
    try:
        with store.reading() as cursor:
            return cursor.execute("SELECT 1").fetchone() == (1,)
    except EngineClosed:
        return False


def test_the_least_recently_used_namespace_is_the_one_that_closes(stores: CountedStores) -> None:
    pool = StorePool(2, stores.open, lambda _: None)
    for namespace in (1, 2, 1, 3, 1):
        with pool.use(namespace) as store:
            assert is_open(store)
    assert (len(pool), stores.opened) == (2, 3)
    with pool.use(2):
        assert stores.opened == 4
    pool.close()


def test_a_namespace_in_use_stays_open_beyond_the_capacity(stores: CountedStores) -> None:
    pool = StorePool(1, stores.open, lambda _: None)
    with pool.use(1) as first, pool.use(2) as second, pool.use(3):
        assert len(pool) == 3
        for store in (first, second):
            with store.reading() as cursor:
                assert cursor.execute("SELECT count(*) FROM documents").fetchone() == (6,)
    with pool.use(4):
        pass
    assert len(pool) == 1
    assert not is_open(first)
    pool.close()


def test_saving_one_namespace_at_its_closing_does_not_hold_up_another(stores: CountedStores) -> None:
    saving, may_end = threading.Event(), threading.Event()

    def retire(_: NamespaceStore) -> None:
        saving.set()
        assert may_end.wait(30)

    pool = StorePool(2, stores.open, retire)
    with pool.use(1), pool.use(2):
        pass

    def use_third() -> None:
        with pool.use(3):
            pass

    closing = threading.Thread(target=use_third)
    closing.start()
    assert saving.wait(30)
    with pool.use(2) as store:
        assert is_open(store)
    assert closing.is_alive()
    may_end.set()
    closing.join()
    pool.close()


def test_a_namespace_that_cannot_be_saved_closes_all_the_same(stores: CountedStores) -> None:
    def refuse(_: NamespaceStore) -> None:
        raise OSError("no space")

    pool = StorePool(1, stores.open, refuse)
    for namespace in (1, 2, 1):
        with pool.use(namespace) as store, store.reading() as cursor:
            assert cursor.execute("SELECT count(*) FROM documents").fetchone() == (6,)
    assert (len(pool), stores.opened) == (1, 3)
    pool.close()


# -- backup


def test_a_backup_into_an_existing_folder_is_refused_and_leaves_it_alone(quarry: engine.Engine, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    (target / "mine").write_text("keep")
    with pytest.raises(InvalidRequest):
        quarry.backup(target)
    assert [file.name for file in target.iterdir()] == ["mine"]
    assert not (tmp_path / "copy.partial").exists()


def test_a_backup_answers_as_its_original_and_is_independent_of_it(quarry: engine.Engine, tmp_path: Path) -> None:
    before = {name: answers(quarry, name) for name in NAMES}
    quarry.backup(tmp_path / "copy")
    quarry.drop("one")
    with opened(tmp_path / "copy") as copy:
        assert copy.check() == []
        assert {name: answers(copy, name) for name in NAMES} == before
        copy.upsert("one", [{"id": "new", "body": "only in the copy"}])
    assert [n.name for n in quarry.namespaces()] == sorted(NAMES[1:])


# -- reindex


class HaltingEmbedder(HashingEmbedder):
    """Waits in its next embedding of passages once it is told to halt."""

    def __init__(self) -> None:
        self.halt, self.halted, self.go_on = threading.Event(), threading.Event(), threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.halt.is_set() and len(texts) > 1:
            self.halted.set()
            assert self.go_on.wait(30)
        return super().embed_passages(texts)


def test_searches_are_answered_while_a_namespace_is_derived_anew(tmp_path: Path) -> None:
    embedder = HaltingEmbedder()
    with opened(tmp_path / "data", embedder) as quarry:
        quarry.upsert("one", batch("one"), SCHEMA)
        before = answers(quarry, "one")
        embedder.halt.set()
        with ThreadPoolExecutor(1) as pool:
            reindexing = pool.submit(quarry.reindex, "one")
            assert embedder.halted.wait(30)
            assert answers(quarry, "one") == before
            assert quarry.get("one", "one3") == batch("one")[3]
            assert not reindexing.done()
            embedder.go_on.set()
            assert reindexing.result() == 6
        assert answers(quarry, "one") == before
        assert quarry.check() == []


def test_a_reindex_that_fails_leaves_the_old_state(tmp_path: Path) -> None:
    class Failing(HashingEmbedder):
        fail = False

        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if self.fail and len(texts) > 1:
                raise RuntimeError("out of order")
            return super().embed_passages(texts)

    embedder = Failing()
    with opened(tmp_path / "data", embedder) as quarry:
        quarry.upsert("one", batch("one"), SCHEMA)
        before = answers(quarry, "one")
        embedder.fail = True
        with pytest.raises(RuntimeError):
            quarry.reindex("one")
        embedder.fail = False
        assert answers(quarry, "one") == before
        assert quarry.reindex("one") == 6
        assert quarry.check() == []
    assert sorted(f.name for f in (tmp_path / "data" / "namespaces").iterdir()) == ["1"]


# -- snapshots and the journal


def test_the_journal_is_let_go_once_a_snapshot_holds_what_it_says(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as quarry:
        for turn in range(4):
            quarry.upsert("one", [{"id": f"d{turn}", "body": f"turn{turn}t"}], SCHEMA)
        quarry.maintain("one")
        quarry.upsert("one", [{"id": "late", "body": "latecomer"}])
        copy = tmp_path / "copy"
        quarry.backup(copy)
    store = open_store(copy / "namespaces" / "1", TWO_OPEN)
    with store.reading() as cursor:
        assert changes_since(cursor, 0) is None
        left = changes_since(cursor, 4)
    store.close()
    assert left is not None
    assert [change.seq for change in left] == [5]


def test_a_second_maintenance_has_nothing_to_write(quarry: engine.Engine, tmp_path: Path) -> None:
    quarry.maintain("one")
    number = str(quarry.namespace("one").id)
    vectors = tmp_path / "data" / "namespaces" / number / "vectors"
    written = {f.name: f.stat().st_mtime_ns for f in vectors.iterdir()}
    assert written
    quarry.maintain("one")
    assert {f.name: f.stat().st_mtime_ns for f in vectors.iterdir()} == written


# -- removal


def test_dropping_a_namespace_under_searches_ends_them_with_an_answer_or_not_found(quarry: engine.Engine) -> None:
    reading = threading.Event()
    expected = answers(quarry, "one")

    def read() -> str:
        while True:
            try:
                found = answers(quarry, "one")
            except NotFound:
                return "gone"
            if found != expected:
                return f"wrong: {found}"
            reading.set()

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        assert reading.wait(30)
        quarry.drop("one")
        assert {reader.result() for reader in readers} == {"gone"}
    assert [n.name for n in quarry.namespaces()] == sorted(NAMES[1:])
    assert quarry.check() == []
