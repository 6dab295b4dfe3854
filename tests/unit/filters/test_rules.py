"""The rules of the filter language, one by one, in both the reference and DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest

from engine.filters.check import check_filter, conjoin, parse_filter
from engine.filters.decode import decode_filter
from engine.filters.evaluate import matches
from engine.filters.sql import COLUMN_TYPES, Predicate, compile_filter
from engine.model.checking import plan_upload
from engine.model.schema import Attribute, AttributeType, Schema, decode_schema, merge

SCHEMA = merge(
    Schema(),
    decode_schema(
        {
            name: {"type": kind, "is_filterable": True}
            for name, kind in {
                "title": "string",
                "year": "int",
                "big": "uint",
                "price": "float",
                "key": "uuid",
                "at": "datetime",
                "open": "bool",
                "tags": "[]string",
                "scores": "[]int",
                "times": "[]datetime",
            }.items()
        }
    ),
)
TYPES = {name: attribute.type for name, attribute in SCHEMA.attributes.items()}

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "full",
        "root_document_id": "root",
        "title": "Annual Report",
        "year": 2020,
        "big": 2**64 - 1,
        "price": 9.5,
        "key": "AAAAAAAA-0000-4000-8000-000000000001",
        "at": "2024-05-01T12:00:00+02:00",
        "open": True,
        "tags": ["red", "green"],
        "scores": [1, 5],
        "times": ["2024-01-01", "2025-01-01"],
    },
    {"id": "other", "title": "draft", "year": 2**53 + 1, "price": 0.0, "open": False, "tags": ["green", "red"]},
    {"id": "empty", "title": "", "tags": [], "scores": [], "year": None},
    {"id": "bare"},
]

Find = Callable[[Any], set[str]]


@contextmanager
def searched(documents: list[dict[str, Any]]) -> Generator[Find]:
    """Finds ids by SQL, and asserts that the reference finds the same."""
    _, checked = plan_upload(SCHEMA, None, documents)
    rows = [{"id": document.id, **document.values} for document in checked]
    columns = {"id": "VARCHAR", "root_document_id": "VARCHAR"} | {n: COLUMN_TYPES[kind] for n, kind in TYPES.items()}
    with duckdb.connect() as connection:
        typed = ", ".join(f'"{name}" {sql}' for name, sql in columns.items())
        connection.execute(f"CREATE TABLE r ({typed})")
        marks = ", ".join(f"?::{sql}" for sql in columns.values())
        for row in rows:
            connection.execute(f"INSERT INTO r VALUES ({marks})", [row.get(name) for name in columns])

        def run(raw: Any) -> set[str]:
            parsed = parse_filter(raw, SCHEMA)
            if parsed is None:
                return {row["id"] for row in rows}  # type: ignore[misc]
            predicate = compile_filter(parsed, {name: f'"{name}"' for name in columns})
            by_sql = connection.execute(f"SELECT id FROM r WHERE {predicate.sql}", list(predicate.params)).fetchall()
            by_meaning = {row["id"] for row in rows if matches(parsed, row)}
            assert {document_id for (document_id,) in by_sql} == by_meaning
            return by_meaning  # type: ignore[return-value]

        yield run


@pytest.fixture(scope="module")
def find() -> Generator[Find]:
    with searched(DOCUMENTS) as run:
        yield run


ALL = {"full", "other", "empty", "bare"}
NONE: set[str] = set()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # 1. null and missing
        ({"year": None}, {"empty", "bare"}),
        ({"year": {"$eq": None}}, {"empty", "bare"}),
        ({"year": {"$neq": None}}, {"full", "other"}),
        ({"year": {"$exists": True}}, {"full", "other"}),
        ({"year": {"$exists": False}}, {"empty", "bare"}),
        ({"year": {"$in": [2020, None]}}, {"full", "empty", "bare"}),
        ({"year": {"$not_in": [2020, None]}}, {"other"}),
        ({"tags": {"$in": ["red", None]}}, {"full", "other", "bare"}),
        ({"tags": {"$exists": True}}, {"full", "other", "empty"}),
        ({"title": {"$exists": True}}, {"full", "other", "empty"}),
        # 2. negatives are the NOT of their positives
        ({"title": {"$neq": "draft"}}, {"full", "empty", "bare"}),
        ({"title": {"$ne": "draft"}}, {"full", "empty", "bare"}),
        ({"title": {"$nin": ["draft"]}}, {"full", "empty", "bare"}),
        ({"title": {"$not_glob": "d*"}}, {"full", "empty", "bare"}),
        ({"title": {"$not_iglob": "A*"}}, {"other", "empty", "bare"}),
        ({"tags": {"$not_contains": "red"}}, {"empty", "bare"}),
        ({"tags": {"$not_contains_any": ["red", "blue"]}}, {"empty", "bare"}),
        ({"year": {"$gt": 0}}, {"full", "other"}),
        ({"year": {"$not": {"$gt": 2020}}}, {"full", "empty", "bare"}),
        ({"$not": {"year": {"$gt": 2020}}}, {"full", "empty", "bare"}),
        ({"$nor": [{"year": 2020}, {"title": ""}]}, {"other", "bare"}),
        # 3. lists
        ({"tags": "red"}, {"full", "other"}),
        ({"tags": {"$neq": "red"}}, {"empty", "bare"}),
        ({"tags": ["red", "green"]}, {"full"}),
        ({"tags": {"$eq": ["green", "red"]}}, {"other"}),
        ({"tags": {"$eq": ["red"]}}, NONE),
        ({"tags": {"$neq": ["red", "green"]}}, {"other", "empty", "bare"}),
        ({"tags": []}, {"empty"}),
        ({"tags": {"$in": ["red", "blue"]}}, {"full", "other"}),
        ({"tags": {"$contains_all": ["red", "green", "red"]}}, {"full", "other"}),
        ({"tags": {"$contains_all": ["red", "blue"]}}, NONE),
        ({"tags": {"$contains_all": []}}, {"full", "other", "empty"}),
        ({"tags": {"$contains_any": []}}, NONE),
        ({"tags": {"$glob": "g*"}}, {"full", "other"}),
        ({"scores": {"$gt": 4}}, {"full"}),
        ({"scores": {"$gt": 1, "$lt": 5}}, {"full"}),
        ({"scores": {"$lt": 10**30}}, {"full"}),
        # 4. types
        ({"year": 2020.0}, {"full"}),
        ({"year": 2020.5}, NONE),
        ({"year": {"$gt": 2019.5}}, {"full", "other"}),
        ({"year": 2**53 + 1}, {"other"}),
        ({"year": float(2**53)}, NONE),
        ({"year": {"$gt": float(2**53)}}, {"other"}),
        ({"year": {"$lt": 2**64}}, {"full", "other"}),
        ({"year": {"$gte": -(10**30)}}, {"full", "other"}),
        ({"big": 2**64 - 1}, {"full"}),
        ({"big": {"$gte": -1}}, {"full"}),
        ({"big": 1.8446744073709552e19}, NONE),
        ({"price": 0}, {"other"}),
        ({"price": -0.0}, {"other"}),
        ({"key": "aaaaaaaa-0000-4000-8000-000000000001"}, {"full"}),
        ({"open": False}, {"other"}),
        ({"title": {"$lt": "a"}}, {"full", "empty"}),
        # 5. times
        ({"at": "2024-05-01T10:00:00Z"}, {"full"}),
        ({"at": {"$in": ["2024-05-01T10:00:00.000000"]}}, {"full"}),
        ({"at": {"$gte": "2024-05-01", "$lt": "2024-05-02"}}, {"full"}),
        ({"times": {"$gte": "2025-01-01"}}, {"full"}),
        # 6. globs
        ({"title": {"$glob": "annual*"}}, NONE),
        ({"title": {"$iglob": "annual*"}}, {"full"}),
        ({"title": {"$glob": "{draft,final}"}}, {"other"}),
        ({"title": {"$glob": ""}}, {"empty"}),
        # 7. the empty filter, empty lists, id and root
        ({}, ALL),
        (None, ALL),
        ({"$and": [{}]}, ALL),
        ({"$not": {}}, NONE),
        ({"title": {"$in": []}}, NONE),
        ({"title": {"$not_in": []}}, ALL),
        ({"id": "full"}, {"full"}),
        ({"id": {"$glob": "*e*", "$neq": "bare"}}, {"other", "empty"}),
        ({"root_document_id": "root"}, {"full"}),
        ({"root_document_id": None}, {"other", "empty", "bare"}),
        # keys and operators are ANDed
        ({"title": "draft", "year": 2020}, NONE),
        ({"$or": [{"title": "draft"}, {"year": 2020}], "open": True}, {"full"}),
    ],
    # A set has no stable order to name a test by.
    ids=lambda value: "" if isinstance(value, set) else repr(value),
)
def test_rule(find: Find, raw: Any, expected: set[str]) -> None:
    assert find(raw) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*range(40)], {"long"}),
        ([*range(40), 40.5], NONE),
        ([1] * 40, {"long", "short"}),
        ([1, 2] * 20, {"long"}),
        ([*range(40), 2**63], NONE),
    ],
    ids=range(5),
)
def test_a_long_list_of_values_to_contain(values: list[float], expected: set[str]) -> None:
    with searched([{"id": "long", "scores": [*range(50), 7, 7]}, {"id": "short", "scores": [1, 1, 1]}]) as find:
        assert find({"scores": {"$contains_all": values}}) == expected


@pytest.mark.parametrize("operator", ["$in", "$contains_any"])
def test_a_long_list_of_values_to_meet(operator: str) -> None:
    documents = [{"id": "some", "scores": [1, 5000]}, {"id": "none", "scores": [-1]}, {"id": "empty", "scores": []}]
    with searched([*documents, {"id": "bare"}]) as find:
        assert find({"scores": {operator: [*range(5000, 15_000)]}}) == {"some"}
        assert find({"scores": {"$not": {operator: [*range(5000, 15_000)]}}}) == {"none", "empty", "bare"}


def test_a_pattern_crosses_line_ends_in_values_and_elements() -> None:
    with searched([{"id": "a", "title": "two\nlines", "tags": ["x\ny"]}]) as find:
        assert find({"title": {"$glob": "two*s"}, "tags": {"$glob": "x?y"}}) == {"a"}


def test_text_that_looks_like_a_time_stays_text_on_a_string_attribute() -> None:
    checked = parse_filter({"title": "2024-01-01T00:00:00Z"}, SCHEMA)
    assert checked is not None
    assert matches(checked, {"title": "2024-01-01T00:00:00Z"})
    assert not matches(checked, {"title": "2024-01-01"})


def test_conjoin_narrows_and_none_is_no_filter() -> None:
    draft, year = parse_filter({"title": "draft"}, SCHEMA), parse_filter({"year": 2020}, SCHEMA)
    both = conjoin(draft, year)
    assert conjoin(draft, None) is draft
    assert conjoin(None, draft) is draft
    assert conjoin(None, None) is None
    assert both == parse_filter({"title": "draft", "year": 2020}, SCHEMA)
    assert both is not None
    assert [name for name, _ in both.types] == ["title", "year"]


def test_filters_of_schemas_that_disagree_cannot_be_conjoined() -> None:
    other = Schema({"year": Attribute(AttributeType.STRING, is_filterable=True)})
    with pytest.raises(ValueError, match="year"):
        conjoin(parse_filter({"year": 1}, SCHEMA), parse_filter({"year": "1"}, other))


def test_a_tree_can_be_checked_against_a_later_schema() -> None:
    tree = decode_filter({"year": 1})
    assert tree is not None
    wider = Schema({"year": Attribute(AttributeType.FLOAT, is_filterable=True)})
    assert check_filter(tree, wider).types == (("year", AttributeType.FLOAT),)


def compiled(raw: Any) -> Predicate:
    checked = parse_filter(raw, SCHEMA)
    assert checked is not None
    return compile_filter(checked, {name: f'"{name}"' for name in [*TYPES, "id"]})


def test_values_are_parameters_and_never_text_of_the_statement() -> None:
    predicate = compiled({"title": "'; DROP TABLE r; --", "year": {"$in": [7777]}, "tags": {"$glob": "zzz*"}})
    assert "DROP" not in predicate.sql
    assert "7777" not in predicate.sql
    assert "zzz" not in predicate.sql
    assert predicate.params == ("'; DROP TABLE r; --", 7777, "zzz.*")


def test_many_equalities_become_one_membership() -> None:
    predicate = compiled({"$or": [{"title": str(n)} for n in range(900)]})
    assert predicate.sql == '("title" IS NOT NULL AND "title" IN (SELECT unnest(?::VARCHAR[])))'


def test_many_inequalities_become_one_membership() -> None:
    predicate = compiled({"$and": [{"title": {"$neq": str(n)}} for n in range(900)]})
    assert predicate.sql.count("IN (SELECT") == 1


def test_joins_are_limited_so_that_planning_stays_short() -> None:
    each = [{"$or": [{"tags": {"$in": [f"{n}-{m}" for m in range(40)]}}, {"year": n}]} for n in range(20)]
    assert compiled({"$and": each}).sql.count("EXISTS") == 16


def test_a_root_without_a_column_is_missing_everywhere() -> None:
    assert "NULL::VARCHAR" in compiled({"root_document_id": "a"}).sql


def test_an_attribute_without_a_column_is_a_mistake_of_the_program() -> None:
    checked = parse_filter({"year": 1}, SCHEMA)
    assert checked is not None
    with pytest.raises(ValueError, match="year"):
        compile_filter(checked, {})


def test_a_thousand_operators_of_sixteen_levels_run_within_the_limits_of_duckdb() -> None:
    tree: dict[str, Any] = {"year": 1}
    for level in range(14):
        wide = [{"year": {"$gt": level * 100 + n}} for n in range(68)]
        tree = {"$or": [tree, *wide]} if level % 2 else {"$and": [tree, *wide]}
    predicate = compiled(tree)
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE r AS SELECT range AS "year" FROM range(10)')
        assert connection.execute(
            f"SELECT count(*) FROM r WHERE {predicate.sql}", list(predicate.params)
        ).fetchone() == (0,)
