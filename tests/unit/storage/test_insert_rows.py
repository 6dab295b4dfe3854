from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import StorageError
from engine.storage.connection import Database, connect, insert_rows

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": st.text(),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "UBIGINT": st.integers(0, 2**64 - 1),
    "DOUBLE": st.floats(allow_nan=False),
    "BOOLEAN": st.booleans(),
    "BLOB": st.binary(),
    "VARCHAR[]": st.lists(st.text(max_size=5), max_size=4),
    "BIGINT[]": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
    "UBIGINT[]": st.lists(st.integers(0, 2**64 - 1), max_size=4),
    "DOUBLE[]": st.lists(st.floats(allow_nan=False), max_size=4),
    "BOOLEAN[]": st.lists(st.booleans(), max_size=4),
}
COLUMNS = tuple(f"c{n}" for n in range(len(KINDS)))
ROWS = st.lists(st.tuples(*(st.none() | values for values in KINDS.values())), max_size=8)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory):
    database = connect(tmp_path_factory.mktemp("wide") / "w.duckdb", threads=2, memory_limit="256MB")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, KINDS, strict=True))
    with database.transaction() as cursor:
        cursor.execute(f"CREATE TABLE t (n BIGINT, {columns})")
    yield database
    database.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_every_value_comes_back_as_it_went_in(wide: Database, rows: list[tuple[Any, ...]]) -> None:
    numbered = [(n, *row) for n, row in enumerate(rows)]
    with wide.transaction() as cursor:
        cursor.execute("DELETE FROM t")
        insert_rows(cursor, "t", ("n", *COLUMNS), numbered)
    with wide.reader() as cursor:
        assert cursor.execute("SELECT * FROM t ORDER BY n").fetchall() == numbered


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_appended_rows_equal_rows_of_insert_statements(wide: Database, rows: list[tuple[Any, ...]]) -> None:
    marks = ", ".join(f"${n}::{kind}" for n, kind in enumerate(("BIGINT", *KINDS), start=1))
    numbered = [(n, *row) for n, row in enumerate(rows)]
    with wide.transaction() as cursor:
        cursor.execute("DELETE FROM t")
        for row in numbered:
            cursor.execute(f"INSERT INTO t VALUES ({marks})", row)
        slow = cursor.execute("SELECT * FROM t ORDER BY n").fetchall()
        cursor.execute("DELETE FROM t")
        insert_rows(cursor, "t", ("n", *COLUMNS), numbered)
        fast = cursor.execute("SELECT * FROM t ORDER BY n").fetchall()
    assert fast == slow


def test_not_a_number_and_infinities_are_kept(wide: Database) -> None:
    with wide.transaction() as cursor:
        cursor.execute("DELETE FROM t")
        insert_rows(cursor, "t", ("n", "c3"), [(0, math.nan), (1, math.inf), (2, -math.inf)])
        held = [value for (value,) in cursor.execute("SELECT c3 FROM t ORDER BY n").fetchall()]
    assert math.isnan(held[0])
    assert held[1:] == [math.inf, -math.inf]


def test_columns_not_named_take_their_default(database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (a BIGINT, b BIGINT DEFAULT 7, c VARCHAR)")
        insert_rows(cursor, "t", ("c", "a"), [("x", 1)])
        assert cursor.execute("SELECT * FROM t").fetchall() == [(1, 7, "x")]


def test_rows_may_be_a_generator_and_none_at_all(database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (a BIGINT)")
        insert_rows(cursor, "t", ("a",), ((n,) for n in range(3)))
        insert_rows(cursor, "t", ("a",), [])
        assert cursor.execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_temporary_tables_take_rows_too(database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TEMP TABLE t (a BIGINT, b VARCHAR[])")
        insert_rows(cursor, "t", ("a", "b"), [(1, ["x", None]), (2, None), (3, [])])
        assert cursor.execute("SELECT * FROM t").fetchall() == [(1, ["x", None]), (2, None), (3, [])]


@pytest.mark.parametrize(
    "rows",
    [
        [("fine", 1), ("fine", 2)],
        [("fine", 1), ("known", 2)],
        [("fine", 1), ("other", 2**63)],
        [("fine", 1), ("other", "no number")],
        [("fine", 1), ("\ud800", 2)],
        [("fine", 1), ("other",)],
        [("fine", 1), ("other", 2, 3)],
        [(f"n{n}", n) for n in range(5_000)] + [("n0", 0)],
    ],
    ids=["twice", "known", "too large", "text", "surrogate", "short row", "long row", "twice in many"],
)
def test_one_bad_row_keeps_all_of_them_out(database: Database, rows: list[tuple[Any, ...]]) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (name VARCHAR PRIMARY KEY, n BIGINT)")
        cursor.execute("INSERT INTO t VALUES ('known', 0)")
    with pytest.raises(StorageError), database.transaction() as cursor:
        insert_rows(cursor, "t", ("name", "n"), rows)
    with database.reader() as cursor:
        assert cursor.execute("SELECT name FROM t").fetchall() == [("known",)]


def test_rows_are_seen_by_their_transaction_only_until_it_commits(database: Database) -> None:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (a BIGINT)")
    with database.transaction() as cursor:
        insert_rows(cursor, "t", ("a",), [(1,)])
        assert cursor.execute("SELECT * FROM t").fetchall() == [(1,)]
        with database.reader() as other:
            assert other.execute("SELECT * FROM t").fetchall() == []
