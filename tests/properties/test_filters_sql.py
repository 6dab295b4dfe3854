"""SQL over typed columns gives what the reference gives, on a real DuckDB."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.filters.check import CheckedFilter, conjoin, parse_filter
from engine.filters.evaluate import matches
from engine.filters.glob import matcher, translate
from engine.filters.simplify import simplify
from engine.filters.sql import COLUMN_TYPES, compile_filter
from engine.model.checking import CheckedDocument, plan_upload
from engine.model.schema import TypedValue
from tests.strategies import EVERYTHING, FILTERABLE, documents, filters

COLUMNS = {"id": "r.id"} | {name: f'r."{name.replace(chr(34), chr(34) * 2)}"' for name in FILTERABLE}

Rows = list[dict[str, TypedValue]]


@pytest.fixture(scope="module")
def table() -> Generator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": "1"}) as connection:
        typed = ", ".join(f"{COLUMNS[name][2:]} {COLUMN_TYPES[kind]}" for name, kind in FILTERABLE.items())
        connection.execute(f"CREATE TABLE r (n INTEGER, id VARCHAR, {typed})")
        yield connection


def rows(held: list[CheckedDocument]) -> Rows:
    return [{"id": document.id, **document.values} for document in held]


def fill(table: duckdb.DuckDBPyConnection, held: Rows) -> None:
    table.execute("DELETE FROM r")
    marks = ", ".join(f"?::{COLUMN_TYPES[kind]}" for kind in FILTERABLE.values())
    for n, row in enumerate(held):
        table.execute(f"INSERT INTO r VALUES (?, ?, {marks})", [n, row["id"], *(row.get(name) for name in FILTERABLE)])


def found(table: duckdb.DuckDBPyConnection, checked: CheckedFilter) -> list[int]:
    predicate = compile_filter(checked, COLUMNS)
    assert table.execute(
        f"SELECT count(*) FROM r WHERE ({predicate.sql}) IS NULL", list(predicate.params)
    ).fetchone() == (0,)
    return [
        n
        for (n,) in table.execute(
            f"SELECT n FROM r WHERE {predicate.sql} ORDER BY n", list(predicate.params)
        ).fetchall()
    ]


def meant(held: Rows, checked: CheckedFilter) -> list[int]:
    return [n for n, row in enumerate(held) if matches(checked, row)]


uploads = st.lists(documents(), min_size=1, max_size=5).map(lambda batch: rows(plan_upload(EVERYTHING, None, batch)[1]))


@given(held=uploads, raw=st.lists(filters(), min_size=1, max_size=6))
def test_sql_finds_what_the_reference_finds(
    table: duckdb.DuckDBPyConnection, held: Rows, raw: list[dict[str, Any]]
) -> None:
    fill(table, held)
    for each in raw:
        checked = parse_filter(each, EVERYTHING)
        if checked is not None:
            assert found(table, checked) == meant(held, checked)


@given(held=uploads, raw=filters())
def test_simplifying_changes_nothing(held: Rows, raw: dict[str, Any]) -> None:
    checked = parse_filter(raw, EVERYTHING)
    if checked is not None:
        assert meant(held, checked) == meant(held, CheckedFilter(simplify(checked.tree), checked.types))


@given(held=uploads, raw=filters())
def test_not_is_the_exact_complement(held: Rows, raw: dict[str, Any]) -> None:
    negated = parse_filter({"$not": raw}, EVERYTHING)
    checked = parse_filter(raw, EVERYTHING)
    assert negated is not None
    kept = range(len(held)) if checked is None else meant(held, checked)
    assert sorted([*kept, *meant(held, negated)]) == list(range(len(held)))


@given(held=uploads, first=filters(), second=filters())
def test_a_conjunct_never_adds_rows(held: Rows, first: dict[str, Any], second: dict[str, Any]) -> None:
    one, two = parse_filter(first, EVERYTHING), parse_filter(second, EVERYTHING)
    both = conjoin(one, two)
    everything = list(range(len(held)))
    left = everything if one is None else meant(held, one)
    right = everything if two is None else meant(held, two)
    assert (everything if both is None else meant(held, both)) == sorted(set(left) & set(right))


ALPHABET = "aAbBéÉßẞſsSKK😀İıΣσς\n\0.^$\\|()+-"
patterns = st.text(st.sampled_from(ALPHABET + "**??[]!^-{},,"), max_size=10)


@given(pattern=patterns, subject=st.text(st.sampled_from(ALPHABET + "[]{}"), max_size=6), ignore_case=st.booleans())
def test_both_engines_read_a_pattern_alike(
    table: duckdb.DuckDBPyConnection, pattern: str, subject: str, ignore_case: bool
) -> None:
    expression = translate(pattern, ignore_case=ignore_case)
    row = table.execute("SELECT regexp_full_match(?, ?, 's')", [subject, expression]).fetchone()
    assert row == (matcher(pattern, ignore_case=ignore_case).fullmatch(subject) is not None,)
