# ruff: noqa: PT012 - the block under test is a transaction
from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import InvalidRequest, NamespaceNotFound, NotFound, StorageError
from engine.model.namespace import Company, StoredNamespace
from engine.model.schema import Attribute, AttributeType, Schema
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from tests.catalogs import added, state, written

SCHEMA = Schema(
    {
        "title": Attribute(AttributeType.STRING, is_searchable=True),
        "née \"quoted' name": Attribute(AttributeType.INTS, is_filterable=True, inferred=True),
        "empty": Attribute(AttributeType.JSON),
    }
)


@pytest.fixture
def catalog(file: CatalogFile, clock) -> Catalog:
    return Catalog(file, clock)


def make(catalog: Catalog, name: str, company: Company | None = None) -> StoredNamespace:
    owner = company or catalog.company("default")
    return added(catalog, name, SCHEMA, owner, embedder="hash", dimension=64)


def test_the_default_company_is_number_one(catalog: Catalog) -> None:
    assert catalog.company("default") == Company(1, "default")


def test_a_company_is_made_once_and_keeps_its_number(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    acme = catalog.company("acme")
    assert catalog.company("acme") == acme
    assert Catalog(reopen()).company("acme", create=False) == acme


def test_a_company_that_may_not_be_made_is_not_found(catalog: Catalog) -> None:
    with pytest.raises(NotFound):
        catalog.company("acme", create=False)
    assert catalog.company("other").id == 2


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 129, "\x00"])
def test_a_company_name_is_checked(catalog: Catalog, name: str) -> None:
    with pytest.raises(InvalidRequest):
        catalog.company(name)


def test_a_namespace_comes_back_as_it_was_made(catalog: Catalog, reopen: Callable[[], CatalogFile], clock) -> None:
    made = make(catalog, "docs")
    assert (made.schema, made.embedder, made.dimension) == (SCHEMA, "hash", 64)
    assert made.created_at == made.updated_at == clock.now
    assert (made.company_id, made.company_name) == (1, "default")
    assert catalog.namespace(1, "docs") == made
    assert Catalog(reopen()).namespace(1, "docs") == made


def test_unknown_namespaces_and_those_of_others_are_not_found(catalog: Catalog) -> None:
    acme = catalog.company("acme")
    make(catalog, "theirs", acme)
    for name in ("theirs", "nowhere", ""):
        with pytest.raises(NamespaceNotFound):
            catalog.namespace(1, name)
        assert catalog.find(1, name) is None
    assert catalog.namespaces(1) == []


def test_companies_may_use_the_same_name(catalog: Catalog) -> None:
    acme = catalog.company("acme")
    ours, theirs = make(catalog, "docs"), make(catalog, "docs", acme)
    assert ours.id != theirs.id
    catalog.drop_namespace(theirs.id)
    assert catalog.namespace(1, "docs") == ours


def test_numbers_are_not_given_out_again(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    first = make(catalog, "docs")
    catalog.drop_namespace(first.id)
    second = make(catalog, "docs")
    catalog.drop_namespace(second.id)
    third = make(Catalog(reopen()), "docs")
    assert first.id < second.id < third.id


def test_a_number_taken_by_a_failed_write_leaves_no_namespace(catalog: Catalog, file: CatalogFile) -> None:
    with pytest.raises(StorageError), file.write() as cursor:
        cursor.execute("INSERT INTO namespaces VALUES (99, 1, 'half', '{}', 'e', 1, 0, 0)")
        cursor.execute("INSERT INTO nowhere VALUES (1)")
    assert Catalog(file).namespaces(1) == []


def test_dropping_forgets_and_dropping_again_does_nothing(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    made, kept = make(catalog, "docs"), make(catalog, "kept")
    for _ in range(2):
        catalog.drop_namespace(made.id)
    assert catalog.namespace_ids() == {kept.id}
    assert [n.name for n in Catalog(reopen()).namespaces(1)] == ["kept"]


def test_updating_what_was_dropped_is_not_found(catalog: Catalog) -> None:
    made = make(catalog, "docs")
    catalog.drop_namespace(made.id)
    with pytest.raises(NamespaceNotFound):
        catalog.record(made.id, state(2, SCHEMA))


def test_a_schema_change_is_kept_and_moves_the_time(catalog: Catalog, reopen: Callable[[], CatalogFile], clock) -> None:
    made = make(catalog, "docs")
    clock.turn(seconds=5)
    wider = Schema({**SCHEMA.attributes, "more": Attribute(AttributeType.FLOAT)})
    changed = written(catalog, made.id, wider)
    assert changed.schema == wider
    assert changed.updated_at == clock.now
    assert changed.created_at == made.created_at
    assert catalog.namespace(1, "docs") == changed
    assert catalog.flush() == 1
    assert catalog.flush() == 0
    assert Catalog(reopen()).namespace(1, "docs") == changed


def test_what_was_not_written_down_is_read_again_from_the_namespace(
    catalog: Catalog, reopen: Callable[[], CatalogFile], clock
) -> None:
    made = make(catalog, "docs")
    written(catalog, made.id)
    again = Catalog(reopen(), clock)
    assert again.namespace(1, "docs") == made
    clock.turn(seconds=5)
    assert again.record(made.id, state(2, SCHEMA, embedder="hash", dimension=64)).updated_at == clock.now


def test_a_state_that_is_known_already_moves_nothing(catalog: Catalog, clock) -> None:
    made = make(catalog, "docs")
    clock.turn(seconds=5)
    assert catalog.record(made.id, state(1, SCHEMA, embedder="hash", dimension=64)) == made
    assert catalog.flush() == 0


def test_another_embedder_and_the_counts_are_kept(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    made = make(catalog, "docs")
    changed = catalog.record(made.id, state(7, None, embedder="other", dimension=8))
    assert (changed.embedder, changed.dimension, changed.schema) == ("other", 8, SCHEMA)
    assert (changed.seq, changed.documents, changed.passages, changed.storage_bytes) == (7, 21, 35, 7_000)
    catalog.flush()
    assert Catalog(reopen()).namespace(1, "docs") == changed


def test_a_failed_write_keeps_what_was_recorded_for_the_next(catalog: Catalog, tmp_path: Path) -> None:
    made = make(catalog, "docs")
    changed = written(catalog, made.id)
    (tmp_path / ".catalog.manifest.tmp").mkdir()
    with pytest.raises(StorageError):
        catalog.flush()
    assert catalog.namespace(1, "docs") == changed
    (tmp_path / ".catalog.manifest.tmp").rmdir()
    assert catalog.flush() == 1


def test_lookups_wait_for_no_disk(catalog: Catalog, file: CatalogFile) -> None:
    """A write that takes long, such as an fsync on a busy disk, holds up other writers only."""
    made = make(catalog, "docs")
    written(catalog, made.id)
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> None:
        with file.write():
            begun.set()
            assert may_end.wait(30)

    threads = [threading.Thread(target=slow), threading.Thread(target=catalog.flush)]
    for thread in threads:
        thread.start()
        assert begun.wait(30)
    try:
        found = []
        reader = threading.Thread(
            target=lambda: found.append((catalog.namespace(1, "docs").seq, catalog.record(made.id, state(3, SCHEMA))))
        )
        reader.start()
        reader.join(30)
        assert not reader.is_alive()
        assert found[0][0] == 2
    finally:
        may_end.set()
        for thread in threads:
            thread.join(30)


def test_the_time_moves_on_even_when_the_clock_goes_back(catalog: Catalog, clock) -> None:
    made = make(catalog, "docs")
    times = [made.updated_at]
    for seconds in (0, -3600, 0, 7200):
        clock.turn(seconds=seconds)
        times.append(written(catalog, made.id).updated_at)
    assert times == sorted(set(times))


def test_times_are_whole_milliseconds_in_utc(catalog: Catalog, clock) -> None:
    clock.turn(microseconds=456)
    made = make(catalog, "docs")
    assert made.created_at.microsecond == 123_000
    assert made.created_at.utcoffset() is not None


def test_many_updates_of_one_row_keep_it_single(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    made = make(catalog, "docs")
    for n in range(30):
        written(catalog, made.id, Schema({f"a{n}": Attribute(AttributeType.STRING)}))
        catalog.flush()
    found = Catalog(reopen()).namespaces(1)
    assert [list(n.schema.attributes) for n in found] == [["a29"]]


def test_a_list_is_by_name(catalog: Catalog) -> None:
    for name in ("b", "a", "ab", "B", "a.c", "a-", "c"):
        make(catalog, name)
    assert [n.name for n in catalog.namespaces(1)] == ["B", "a", "a-", "a.c", "ab", "b", "c"]


def test_after_a_manifest_that_could_not_be_written_memory_equals_the_file(catalog: Catalog, tmp_path: Path) -> None:
    """The commit stood, only its record failed: the caller sees an error, the next reader sees the namespace."""
    number = catalog.reserve()
    (tmp_path / ".catalog.manifest.tmp").mkdir()
    with pytest.raises(StorageError):
        catalog.add_namespace(catalog.company("default"), "docs", number, state(1, SCHEMA))
    (tmp_path / ".catalog.manifest.tmp").rmdir()
    assert catalog.namespace(1, "docs").id == number


def test_a_drop_whose_record_failed_is_done(catalog: Catalog, tmp_path: Path) -> None:
    made = make(catalog, "docs")
    (tmp_path / ".catalog.manifest.tmp").mkdir()
    catalog.drop_namespace(made.id)
    (tmp_path / ".catalog.manifest.tmp").rmdir()
    assert catalog.find(1, "docs") is None


def test_a_copy_of_the_catalog_opens_and_holds_the_same(catalog: Catalog, file: CatalogFile, tmp_path: Path) -> None:
    make(catalog, "docs")
    (tmp_path / "copy").mkdir()
    file.copy_to(tmp_path / "copy")
    copied = CatalogFile.open(tmp_path / "copy")
    assert Catalog(copied).namespaces(1) == catalog.namespaces(1)
    copied.close()
