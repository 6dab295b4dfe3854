"""Schema changes of a database, applied once each, in the order of their names.

A migration is a SQL file ``migrations/<kind>/NNNN_what.sql`` or a function; its name is recorded in the transaction
that runs it. A database that knows a migration which we do not was written by a newer version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb

from engine.errors import UnsupportedFormat
from engine.storage.connection import Cursor, Database

Kind = Literal["catalog", "namespace"]

_FOLDER = Path(__file__).parent / "migrations"


class Migration(NamedTuple):
    """One change: its name, which sorts, and what runs it within a transaction."""

    name: str
    apply: Callable[[Cursor], None]


@cache
def shipped(kind: Kind) -> tuple[Migration, ...]:
    """The SQL files of a kind of database, in order."""
    return tuple(_from_file(path) for path in sorted((_FOLDER / kind).glob("[0-9]*.sql")))


def _from_file(path: Path) -> Migration:
    script = path.read_text(encoding="utf-8")

    def run(cursor: Cursor) -> None:
        cursor.execute(script)

    return Migration(path.stem, run)


def applied(cursor: Cursor) -> list[str]:
    """Names of the migrations that `cursor`'s database has had, in order. Reads only; not within a transaction."""
    try:
        return [name for (name,) in cursor.execute("SELECT name FROM migrations ORDER BY name").fetchall()]
    except duckdb.CatalogException:
        # Asking for the table first would cost 5 ms: a list of tables makes DuckDB build its system views.
        return []


def pending(cursor: Cursor, migrations: Sequence[Migration]) -> list[Migration]:
    """Those of `migrations` that the database has not had, in order. Reads only.

    Raises:
        UnsupportedFormat: the database has had others, or not in this order.
    """
    had = applied(cursor)
    if had != [migration.name for migration in migrations[: len(had)]]:
        raise UnsupportedFormat("A database was written by a newer version.")
    return list(migrations[len(had) :])


def migrate(database: Database, migrations: Sequence[Migration]) -> list[str]:
    """Apply what is pending, each in a transaction of its own; the names of what was applied.

    Args:
        migrations: all there are, such as `shipped` gives them; names strictly ascending.

    Raises:
        UnsupportedFormat: see `pending`.
        StorageError: one failed. It left nothing behind; those before it stay.
    """
    names = [migration.name for migration in migrations]
    if names != sorted(set(names)):
        raise ValueError(f"migrations must be in the order of their names: {names}")
    with database.reader() as cursor:
        due = pending(cursor, migrations)
    for migration in due:
        with database.transaction() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS migrations (name VARCHAR NOT NULL)")
            migration.apply(cursor)
            cursor.execute("INSERT INTO migrations VALUES ($1)", [migration.name])
    return [migration.name for migration in due]
