# ruff: noqa: PT012 - the block under test is a transaction
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import InvalidRequest, NamespaceNotFound, NotFound, StorageError
from engine.model.schema import Attribute, AttributeType, Schema
from engine.storage.catalog import Catalog, Company, StoredNamespace
from engine.storage.catalog_file import CatalogFile

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
    return catalog.create_namespace(owner, name, SCHEMA, embedder="hash", dimension=64)


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


def test_a_namespace_made_twice_is_the_first(catalog: Catalog) -> None:
    made = make(catalog, "docs")
    again = catalog.create_namespace(catalog.company("default"), "docs", Schema(), embedder="other", dimension=8)
    assert again == made


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
    for update in (
        lambda: catalog.touch(made.id),
        lambda: catalog.update_schema(made.id, Schema()),
        lambda: catalog.set_embedder(made.id, "e", 1),
    ):
        with pytest.raises(NamespaceNotFound):
            update()


def test_a_schema_change_is_kept_and_moves_the_time(catalog: Catalog, reopen: Callable[[], CatalogFile], clock) -> None:
    made = make(catalog, "docs")
    clock.turn(seconds=5)
    wider = Schema({**SCHEMA.attributes, "more": Attribute(AttributeType.FLOAT)})
    changed = catalog.update_schema(made.id, wider)
    assert changed.schema == wider
    assert changed.updated_at == clock.now
    assert changed.created_at == made.created_at
    assert Catalog(reopen()).namespace(1, "docs") == changed


def test_another_embedder_is_kept_and_the_time_stays(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    made = make(catalog, "docs")
    changed = catalog.set_embedder(made.id, "other", 8)
    assert (changed.embedder, changed.dimension, changed.updated_at) == ("other", 8, made.updated_at)
    assert Catalog(reopen()).namespace(1, "docs") == changed


def test_the_time_moves_on_even_when_the_clock_goes_back(catalog: Catalog, clock) -> None:
    made = make(catalog, "docs")
    times = [made.updated_at]
    for seconds in (0, -3600, 0, 7200):
        clock.turn(seconds=seconds)
        times.append(catalog.touch(made.id).updated_at)
    assert times == sorted(set(times))


def test_times_are_whole_milliseconds_in_utc(catalog: Catalog, clock) -> None:
    clock.turn(microseconds=456)
    made = make(catalog, "docs")
    assert made.created_at.microsecond == 123_000
    assert made.created_at.utcoffset() is not None


def test_many_updates_of_one_row_keep_it_single(catalog: Catalog, reopen: Callable[[], CatalogFile]) -> None:
    made = make(catalog, "docs")
    for n in range(30):
        catalog.update_schema(made.id, Schema({f"a{n}": Attribute(AttributeType.STRING)}))
        catalog.touch(made.id)
    found = Catalog(reopen()).namespaces(1)
    assert [list(n.schema.attributes) for n in found] == [["a29"]]


def test_a_list_is_by_name_and_its_pages_make_it_whole(catalog: Catalog) -> None:
    for name in ("b", "a", "ab", "B", "a.c", "a-", "c"):
        make(catalog, name)
    every = [n.name for n in catalog.namespaces(1)]
    assert every == ["B", "a", "a-", "a.c", "ab", "b", "c"]
    assert [n.name for n in catalog.namespaces(1, prefix="a")] == ["a", "a-", "a.c", "ab"]
    assert catalog.namespaces(1, prefix="zz") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(prefix=st.sampled_from(["", "n", "n1", "x"]), limit=st.integers(1, 25))
def test_pages_follow_each_other(pages: Catalog, prefix: str, limit: int) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = pages.namespaces_page(1, prefix=prefix, limit=limit, cursor=cursor)
        assert len(page.namespaces) <= limit
        seen += [n.name for n in page.namespaces]
        cursor = page.next_cursor
        if cursor is None:
            break
        assert len(page.namespaces) == limit
    assert seen == [n.name for n in pages.namespaces(1, prefix=prefix)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory):
    opened = CatalogFile.open(tmp_path_factory.mktemp("pages"))
    catalog = Catalog(opened)
    for n in range(22):
        make(catalog, f"n{n}")
    yield catalog
    opened.close()


def test_a_page_continues_when_its_last_namespace_is_gone(catalog: Catalog) -> None:
    made = [make(catalog, name) for name in "abcd"]
    page = catalog.namespaces_page(1, limit=2)
    catalog.drop_namespace(made[1].id)
    make(catalog, "bb")
    rest = catalog.namespaces_page(1, limit=10, cursor=page.next_cursor)
    assert [n.name for n in rest.namespaces] == ["bb", "c", "d"]


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_out_of_range_is_refused(catalog: Catalog, limit: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        catalog.namespaces_page(1, limit=limit)
    assert caught.value.path == "limit"


@pytest.mark.parametrize("cursor", ["!", "a", "_w", "é", "YWJj\n"])
def test_a_cursor_of_someone_elses_making_is_refused(catalog: Catalog, cursor: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        catalog.namespaces_page(1, cursor=cursor)
    assert caught.value.path == "cursor"


def test_after_a_manifest_that_could_not_be_written_memory_equals_the_file(catalog: Catalog, tmp_path: Path) -> None:
    """The commit stood, only its record failed: the caller sees an error, the next reader sees the namespace."""
    (tmp_path / ".catalog.manifest.tmp").mkdir()
    with pytest.raises(StorageError):
        make(catalog, "docs")
    (tmp_path / ".catalog.manifest.tmp").rmdir()
    assert make(catalog, "docs") == catalog.namespace(1, "docs")
    assert len(catalog.namespaces(1)) == 1


def test_a_copy_of_the_catalog_opens_and_holds_the_same(catalog: Catalog, file: CatalogFile, tmp_path: Path) -> None:
    make(catalog, "docs")
    (tmp_path / "copy").mkdir()
    file.copy_to(tmp_path / "copy")
    copied = CatalogFile.open(tmp_path / "copy")
    assert Catalog(copied).namespaces(1) == catalog.namespaces(1)
    copied.close()
