from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import ApiKeyNotFound, InvalidRequest, StorageError
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.keys import Keyring
from engine.store.keys import KeyStore


@pytest.fixture
def catalog(file: CatalogFile, clock) -> Catalog:
    return Catalog(file, clock)


@pytest.fixture
def keyring(file: CatalogFile, catalog: Catalog, clock) -> Keyring:
    return Keyring(file, clock)


@pytest.fixture
def store(keyring: Keyring, catalog: Catalog, clock) -> KeyStore:
    return KeyStore(keyring, catalog.company("default"), clock)


@pytest.fixture
def theirs(keyring: Keyring, catalog: Catalog, clock) -> KeyStore:
    return KeyStore(keyring, catalog.company("acme"), clock)


def test_a_new_key_is_recognised_and_described(store: KeyStore, clock) -> None:
    key, raw = store.create("reports", created_by="cli")
    assert store.verify(raw) == key
    assert (key.name, key.company_id, key.company_name, key.created_by) == ("reports", 1, "default", "cli")
    assert key.created_at == clock.now
    assert key.last_used_at is key.expires_at is None
    assert raw.startswith(key.prefix)
    assert raw.endswith(key.suffix)
    assert len(raw) == 3 + 43
    assert len(key.prefix) + len(key.suffix) < 12


def test_scopes_are_all_but_admin_unless_asked(store: KeyStore) -> None:
    assert store.create("a")[0].scopes == ("read", "search", "write")
    admin = store.create("b", scopes=["admin", "read", "admin"])[0]
    assert admin.scopes == ("admin", "read")
    assert admin.allows("write")


def test_no_key_is_on_disk_in_the_clear(store: KeyStore, reopen: Callable[[], CatalogFile], tmp_path: Path) -> None:
    raw = store.create("a")[1]
    reopen().close()
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"api_keys" in written
    assert raw.encode() not in written
    assert raw[3:20].encode() not in written


def test_keys_are_recognised_after_reopening(store: KeyStore, reopen: Callable[[], CatalogFile], clock) -> None:
    key, raw = store.create("a", scopes=["admin"], expires_at=clock.now + timedelta(days=1), created_by="b")
    assert Keyring(reopen(), clock).verify(raw) == key


@pytest.mark.parametrize(
    "change", [lambda raw: raw[:-1], lambda raw: raw + "x", str.lower, str.upper, lambda raw: raw[3:]]
)
def test_anything_but_the_whole_key_is_refused(store: KeyStore, change: Callable[[str], str]) -> None:
    raw = store.create("a")[1]
    assert store.verify(change(raw)) is None
    assert store.verify(raw) is not None


@pytest.mark.parametrize("raw", ["", "qk_", "\x00", "ключ", "\ud800", "x" * 1_000_000])
def test_nonsense_is_refused_quietly(store: KeyStore, raw: str) -> None:
    assert store.verify(raw) is None


def test_every_verification_compares_a_whole_digest(store: KeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key costs the same comparison as one that exists."""
    raw = store.create("a")[1]
    compared: list[tuple[int, int]] = []

    def compare(left: str, right: str) -> bool:
        compared.append((len(left), len(right)))
        return left == right

    monkeypatch.setattr("engine.storage.keys.hmac.compare_digest", compare)
    assert store.verify(raw) is not None
    assert store.verify("qk_" + "A" * 43) is None
    assert compared == [(64, 64), (64, 64)]


def test_an_expired_key_is_refused_from_its_moment_on(store: KeyStore, clock) -> None:
    raw = store.create("a", expires_at=clock.now + timedelta(seconds=10))[1]
    clock.turn(seconds=9.999)
    assert store.verify(raw) is not None
    clock.turn(seconds=0.001)
    assert store.verify(raw) is None
    assert len(store.list()) == 1


def test_a_revoked_key_is_refused_at_once_and_after_reopening(
    store: KeyStore, reopen: Callable[[], CatalogFile]
) -> None:
    key, raw = store.create("a")
    other = store.create("b")[1]
    store.verify(raw)
    store.revoke(key.id)
    assert store.verify(raw) is None
    with pytest.raises(ApiKeyNotFound):
        store.revoke(key.id)
    keyring = Keyring(reopen())
    assert keyring.verify(raw) is None
    assert keyring.verify(other) is not None


def test_a_company_sees_and_revokes_its_own_keys_only(store: KeyStore, theirs: KeyStore) -> None:
    key, raw = theirs.create("a")
    assert store.list() == []
    with pytest.raises(ApiKeyNotFound):
        store.revoke(key.id)
    found = store.verify(raw)
    assert found is not None
    assert found.company_name == "acme"


def test_a_list_is_oldest_first(store: KeyStore, clock) -> None:
    names = ["c", "a", "b"]
    for name in names:
        store.create(name)
        clock.turn(milliseconds=1)
    assert [key.name for key in store.list()] == names


def test_the_last_use_is_seen_at_once_and_written_by_a_flush(
    file: CatalogFile, keyring: Keyring, store: KeyStore, clock
) -> None:
    raw = store.create("a")[1]

    def written() -> list[tuple[int | None]]:
        with file.read() as cursor:
            return cursor.execute("SELECT last_used_at FROM api_keys").fetchall()

    clock.turn(seconds=30)
    store.verify(raw)
    assert store.list()[0].last_used_at == clock.now
    clock.turn(minutes=5)
    store.verify(raw)
    assert written() == [(None,)]
    keyring.flush()
    assert written() == [(int(clock.now.timestamp() * 1000),)]


def test_the_last_use_survives_closing(
    keyring: Keyring, store: KeyStore, reopen: Callable[[], CatalogFile], clock
) -> None:
    raw = store.create("a")[1]
    clock.turn(seconds=5)
    store.verify(raw)
    keyring.flush()
    keyring.flush()
    assert Keyring(reopen(), clock).of_company(1)[0].last_used_at == clock.now


def test_a_use_that_could_not_be_written_is_written_later(
    keyring: Keyring, store: KeyStore, clock, tmp_path: Path, reopen: Callable[[], CatalogFile]
) -> None:
    raw = store.create("a")[1]
    clock.turn(minutes=5)
    (tmp_path / ".catalog.manifest.tmp").mkdir()
    assert store.verify(raw) is not None
    with pytest.raises(StorageError):
        keyring.flush()
    (tmp_path / ".catalog.manifest.tmp").rmdir()
    assert store.list()[0].last_used_at == clock.now
    keyring.flush()
    assert Keyring(reopen(), clock).of_company(1)[0].last_used_at == clock.now


def test_a_key_is_looked_up_while_the_catalog_is_being_written(
    file: CatalogFile, keyring: Keyring, store: KeyStore
) -> None:
    raw = store.create("a")[1]
    held, may_end, found = threading.Event(), threading.Event(), []

    def slow() -> None:
        with file.write():
            held.set()
            assert may_end.wait(30)

    threads = [threading.Thread(target=slow), threading.Thread(target=lambda: store.create("b"))]
    threads[0].start()
    assert held.wait(30)
    threads[1].start()
    reader = threading.Thread(target=lambda: found.append(keyring.verify(raw)))
    reader.start()
    reader.join(30)
    still = reader.is_alive()
    may_end.set()
    for thread in threads:
        thread.join(30)
    assert not still
    assert found[0] is not None


def test_a_root_key_is_an_admin_in_memory_only(
    store: KeyStore, reopen: Callable[[], CatalogFile], tmp_path: Path
) -> None:
    root = store.register_root("operator-chosen-key")
    assert root.scopes == ("admin",)
    assert store.verify("operator-chosen-key") == root
    assert store.list() == []
    assert Keyring(reopen()).verify("operator-chosen-key") is None


@pytest.mark.parametrize("raw", ["", "short", "has a space in it", "kläglicher-schlüssel", "new\nline-key"])
def test_a_root_key_that_no_header_can_carry_is_refused(store: KeyStore, raw: str) -> None:
    with pytest.raises(InvalidRequest):
        store.register_root(raw)


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("name", {"name": " "}),
        ("name", {"name": "x" * 129}),
        ("name", {"name": "a\nb"}),
        ("scopes", {"name": "a", "scopes": []}),
        ("scopes", {"name": "a", "scopes": ["read", "everything"]}),
        ("expires_at", {"name": "a", "expires_at": datetime(2020, 1, 1).astimezone()}),
        ("expires_at", {"name": "a", "expires_at": datetime(2999, 1, 1)}),  # noqa: DTZ001 - the fault
    ],
)
def test_a_bad_key_request_names_its_field(store: KeyStore, path: str, arguments) -> None:
    with pytest.raises(InvalidRequest) as caught:
        store.create(**arguments)
    assert caught.value.path == path
    assert store.list() == []


def test_keys_are_verified_while_others_are_made_and_revoked(store: KeyStore) -> None:
    raw = store.create("steady")[1]
    wrong: list[object] = []

    def verify() -> None:
        wrong.extend(1 for _ in range(2_000) if store.verify(raw) is None)

    threads = [threading.Thread(target=verify) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(10):
        store.revoke(store.create(f"k{n}")[0].id)
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [key.name for key in store.list()] == ["steady"]
