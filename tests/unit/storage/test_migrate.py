from __future__ import annotations

import pytest

from engine.errors import StorageError, UnsupportedFormat
from engine.storage.connection import Cursor, Database
from engine.storage.migrate import Migration, applied, migrate, pending, shipped


def statement(name: str, sql: str) -> Migration:
    def run(cursor: Cursor) -> None:
        cursor.execute(sql)

    return Migration(name, run)


FIRST = statement("0001_first", "CREATE TABLE a (n BIGINT); INSERT INTO a VALUES (1)")
SECOND = statement("0002_second", "ALTER TABLE a ADD COLUMN m BIGINT DEFAULT 5")
FAILING = statement(
    "0003_failing", "CREATE TABLE b (n BIGINT); INSERT INTO b VALUES (1); INSERT INTO nowhere VALUES (1)"
)


def tables(database: Database) -> list[str]:
    with database.reader() as cursor:
        return [name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]


def test_migrations_run_in_order_and_once(database: Database) -> None:
    assert migrate(database, [FIRST, SECOND]) == ["0001_first", "0002_second"]
    assert migrate(database, [FIRST, SECOND]) == []
    with database.reader() as cursor:
        assert applied(cursor) == ["0001_first", "0002_second"]
        assert cursor.execute("SELECT * FROM a").fetchall() == [(1, 5)]


def test_only_what_is_new_runs(database: Database) -> None:
    migrate(database, [FIRST])
    assert migrate(database, [FIRST, SECOND]) == ["0002_second"]


def test_one_that_fails_leaves_nothing_and_those_before_it_stay(database: Database) -> None:
    with pytest.raises(StorageError):
        migrate(database, [FIRST, SECOND, FAILING])
    assert tables(database) == ["a", "migrations"]
    with database.reader() as cursor:
        assert applied(cursor) == ["0001_first", "0002_second"]


def test_one_that_fails_in_python_leaves_nothing(database: Database) -> None:
    def run(cursor: Cursor) -> None:
        cursor.execute("CREATE TABLE b (n BIGINT)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        migrate(database, [Migration("0001_function", run)])
    assert tables(database) == []


def test_looking_changes_nothing(database: Database) -> None:
    with database.reader() as cursor:
        assert applied(cursor) == []
        assert pending(cursor, [FIRST]) == [FIRST]
    assert tables(database) == []


@pytest.mark.parametrize("known", [[], [FIRST], [SECOND], [FIRST, FAILING]])
def test_a_database_that_knows_more_than_we_do_is_refused(database: Database, known: list[Migration]) -> None:
    migrate(database, [FIRST, SECOND])
    with pytest.raises(UnsupportedFormat):
        migrate(database, known)


def test_names_out_of_order_are_a_mistake_of_the_program(database: Database) -> None:
    for wrong in ([SECOND, FIRST], [FIRST, FIRST]):
        with pytest.raises(ValueError, match="order"):
            migrate(database, wrong)


@pytest.mark.parametrize("kind", ["catalog", "namespace"])
def test_what_ships_applies_to_an_empty_database(database: Database, kind) -> None:
    names = migrate(database, shipped(kind))
    assert names[0].startswith("0001_")
    assert migrate(database, shipped(kind)) == []
