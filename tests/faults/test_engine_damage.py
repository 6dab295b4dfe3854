"""Damaged and missing files: refused with a clear error or rebuilt; never a signal, never a silent loss."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import msgspec
import pytest

import engine
from engine import CorruptData, DataDirectoryLocked, UnsupportedFormat
from engine.backend.embedded import verify
from engine.lexical.footprint import read_applied
from engine.model.schema import Schema
from tests.embedders import HashingEmbedder
from tests.faults.extent import runs
from tests.faults.tally import Tally

ROOT = Path(__file__).resolve().parents[2]
COUNT = 400
SCHEMA = {"body": {"type": "string", "is_searchable": True}}
QUESTION = "lantern7 stands at the harbour"


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def ranking(quarry: engine.Engine) -> list[tuple[str, float]]:
    return [(h.document_id, round(h.score, 5)) for h in quarry.retrieve("n", QUESTION, k=20)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, float]]]:
    folder = tmp_path_factory.mktemp("sound") / "data"
    documents = [{"id": f"d{n}", "body": f"The lantern{n % 20} stands at harbour{n % 7}."} for n in range(COUNT)]
    with opened(folder) as quarry:
        quarry.upsert("n", documents, SCHEMA)
        quarry.maintain("n")
        expected = ranking(quarry)
    return folder, expected


@pytest.fixture
def copy(sound: tuple[Path, list[tuple[str, float]]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound[0], tmp_path / "data"))


@pytest.mark.parametrize("lost", ["lexical", "vectors", "forward", "all"])
def test_deleted_indexes_are_rebuilt_with_the_same_ranking(
    copy: Path, sound: tuple[Path, list[tuple[str, float]]], lost: str
) -> None:
    for name in ("lexical", "vectors", "forward"):
        if lost in (name, "all"):
            shutil.rmtree(copy / "namespaces" / "1" / name)
    with opened(copy) as quarry:
        assert quarry.check() == []
        assert ranking(quarry) == sound[1]


@pytest.mark.parametrize("lost", ["idx", "pos", "store", "term", "fieldnorm", "fast", "meta.json"])
def test_a_missing_file_of_the_lexical_index_is_found_at_opening_and_mended(
    copy: Path, sound: tuple[Path, list[tuple[str, float]]], lost: str
) -> None:
    for path in (copy / "namespaces" / "1" / "lexical").glob(f"*{lost}"):
        path.unlink()
    with opened(copy) as quarry:
        assert quarry.check() == []
        assert ranking(quarry) == sound[1]


def test_any_wrong_byte_in_what_the_lexical_index_says_of_itself_is_mended(
    copy: Path, sound: tuple[Path, list[tuple[str, float]]]
) -> None:
    side = copy / "namespaces" / "1" / "lexical" / "applied.json"
    content = side.read_bytes()
    for at in range(content.index(b'"seq"'), len(content) - 1, 3):
        side.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(CorruptData):
            read_applied(side.parent)
    with opened(copy) as quarry:
        assert quarry.check() == []
        assert ranking(quarry) == sound[1]


def test_a_namespace_without_its_folder_is_named_and_never_made_anew(copy: Path) -> None:
    shutil.rmtree(copy / "namespaces" / "1")
    with opened(copy) as quarry:
        assert quarry.stats()[0].problem
        assert quarry.check() == ["n: The database of the namespace is missing."]
        for _ in range(2):
            with pytest.raises(CorruptData):
                quarry.upsert("n", [{"id": "new", "body": "over the ashes"}])
        assert not (copy / "namespaces" / "1").exists()
        quarry.upsert("other", [{"id": "new", "body": "beside them"}])
        quarry.drop("n")
        assert quarry.check() == []


PROBE = """
import sys
from pathlib import Path
from tests.faults.test_engine_damage import COUNT, opened, ranking
from engine import QuarryError
try:
    with opened(Path(sys.argv[1])) as quarry:
        found = ranking(quarry)
        problems = quarry.check()
        stored = quarry.stats()[0].documents
        print("opened", stored, len(found), problems)
        sys.exit(0 if stored == COUNT or problems else 4)
except QuarryError as error:
    print("refused", error.code)
"""


@pytest.mark.parametrize("seed", range(runs(12, 120)))
def test_a_flipped_byte_or_a_cut_file_never_ends_in_a_signal_or_a_silent_loss(
    copy: Path, seed: int, tally: Tally
) -> None:
    draw = random.Random(seed)
    folder = copy / "namespaces" / "1"
    files = sorted(f for f in folder.rglob("*") if f.is_file() and f.stat().st_size)
    victim = files[seed % len(files)] if seed < 8 else draw.choice(files)
    content = bytearray(victim.read_bytes())
    if seed % 3 == 2:
        content = content[: draw.randrange(len(content))]
    else:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    victim.write_bytes(bytes(content))
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(copy)], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    with tally.trial("a flipped byte or a cut file of a namespace: mended, named or refused"):
        assert done.returncode == 0, (victim.name, done.returncode, done.stdout, done.stderr[-1500:])
        assert done.stdout.startswith(("opened", "refused"))


def test_a_database_older_than_what_was_acknowledged_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with opened(folder) as quarry:
        quarry.upsert("n", [{"id": "1", "body": "first"}], SCHEMA)
    database = folder / "namespaces" / "1" / "documents.duckdb"
    old = database.read_bytes()
    with opened(folder) as quarry:
        quarry.upsert("n", [{"id": "2", "body": "second"}], SCHEMA)
    database.write_bytes(old)
    with opened(folder) as quarry, pytest.raises(CorruptData, match="missing"):
        quarry.get("n", "2")


def test_a_newer_format_is_refused(copy: Path) -> None:
    (copy / "FORMAT").write_text("99\n")
    with pytest.raises(UnsupportedFormat):
        opened(copy)


def test_a_second_process_is_refused_in_one_line_and_the_first_goes_on(copy: Path) -> None:
    with opened(copy) as quarry:
        with pytest.raises(DataDirectoryLocked):
            opened(copy)
        done = subprocess.run(
            [sys.executable, "-c", PROBE, str(copy)], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
        )
        assert done.stdout.strip() == "refused data_directory_locked"
        assert quarry.get("n", "d1")["id"] == "d1"


def test_leftovers_of_a_crash_in_a_drop_or_a_swap_are_cleared(copy: Path) -> None:
    namespaces = copy / "namespaces"
    (namespaces / "1").rename(namespaces / "1.replaced")
    (namespaces / "7").mkdir()
    (namespaces / "7" / "PENDING").touch()
    (namespaces / "8").mkdir()
    (namespaces / "9.new").mkdir()
    with opened(copy) as quarry:
        assert quarry.get("n", "d1")["id"] == "d1"
        # What came into being once is never removed because the catalog lacks it.
        assert sorted(p.name for p in namespaces.iterdir()) == ["1", "8"]
        assert quarry.check() == ["folder '8' belongs to no namespace of the catalog"]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DELETE FROM documents WHERE id = 'd1'", "1 passages belong to no document"),
        ("DELETE FROM attributes", "3 documents lack their attribute values"),
        ("INSERT INTO attributes (key) VALUES (99)", "1 attribute values belong to no document"),
        ("UPDATE attribute_columns SET type = 'string'", "attribute 'year' is int in the schema and has string"),
        ("DELETE FROM attribute_columns", "attribute 'year' is int in the schema and has no column"),
        ("DELETE FROM passages WHERE document_id = 'd1'", "the lexical index holds 3 passages, not 2"),
        ("DELETE FROM passages WHERE document_id = 'd1'", "the vector index holds 3 rows, not 2"),
    ],
)
def test_check_names_what_does_not_agree(tmp_path: Path, statement: str, named: str) -> None:
    schema = {**SCHEMA, "year": {"type": "int", "is_filterable": True}}
    with opened(tmp_path) as quarry:
        quarry.upsert("n", [{"id": f"d{n}", "body": f"The lantern{n} stands.", "year": n} for n in range(3)], schema)
        quarry.maintain("n")
    with duckdb.connect(tmp_path / "namespaces" / "1" / "documents.duckdb") as database:
        database.execute(statement)
    with opened(tmp_path) as quarry:
        assert any(named in problem for problem in quarry.check()), quarry.check()


def test_check_names_what_memory_and_database_do_not_agree_about(tmp_path: Path) -> None:
    with opened(tmp_path) as quarry:
        quarry.upsert("n", [{"id": f"d{n}", "body": f"The lantern{n} stands."} for n in range(3)], SCHEMA)
        store = quarry._core.store
        state = store.documents.state(1)
        store.catalog.record(1, msgspec.structs.replace(state, documents=7))
        assert quarry.check() == ["n: the catalog has other counts than the namespace"]
        store.catalog.record(1, msgspec.structs.replace(state, schema=Schema()))
        assert quarry.check() == ["n: the catalog has another schema than the namespace"]
        store.catalog.record(1, state)
        assert quarry.check() == []
        with store.documents._pool.use(1) as held, held.database.transaction() as cursor:
            for table, row in (
                ("attributes", "key = (SELECT key FROM documents WHERE id = 'd1')"),
                ("documents", "id = 'd1'"),
                ("passages", "document_id = 'd1'"),
            ):
                cursor.execute(f"DELETE FROM {table} WHERE {row}")
        assert {"n: there are 2 documents, not 3", "n: the list of live passages differs from the database"} <= set(
            quarry.check()
        )


def test_a_key_that_the_index_of_a_table_lacks_is_counted_and_not_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as quarry:
        quarry.upsert("n", [{"id": "d1", "body": "The lantern stands."}], SCHEMA)
        monkeypatch.setitem(verify._KEYED, "documents", "SELECT unnest(['d1', 'd2', 'd3']), 9, NULL, ''")
        for _ in range(2):
            assert quarry.check() == ["n: 2 documents are not found by their keys"]


def test_what_check_calls_sound_can_be_read_in_full(tmp_path: Path) -> None:
    """A byte is flipped in each block of the database: damage to what no search reads is found too."""
    draw = random.Random(1)
    notes = [[f"{draw.getrandbits(128):032x}" for _ in range(4_000)] for _ in range(3)]
    with opened(tmp_path / "sound") as quarry:
        quarry.upsert("n", [{"id": str(n), "body": "lantern", "note": note} for n, note in enumerate(notes)], SCHEMA)
    sound = (tmp_path / "sound" / "namespaces" / "1" / "documents.duckdb").read_bytes()
    found = 0
    for place in range(12_288 + 100_000, len(sound), 262_144):
        damaged = tmp_path / f"at{place}"
        shutil.copytree(tmp_path / "sound", damaged)
        (damaged / "namespaces" / "1" / "documents.duckdb").write_bytes(
            sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :]
        )
        with opened(damaged) as quarry:
            if quarry.check():
                found += 1
            else:
                assert [quarry.get("n", str(n))["note"] for n in range(3)] == notes
    assert found > 3
