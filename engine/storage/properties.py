"""Named values of one namespace's database, such as the schema its passages were derived under."""

from __future__ import annotations

from engine.storage.connection import Cursor


def read_property(cursor: Cursor, name: str) -> str | None:
    """The value, or None."""
    row = cursor.execute("SELECT value FROM properties WHERE name = $1", [name]).fetchone()
    return None if row is None else str(row[0])


def write_property(cursor: Cursor, name: str, value: str) -> None:
    """Set the value, within the caller's transaction."""
    cursor.execute("DELETE FROM properties WHERE name = $1", [name])
    cursor.execute("INSERT INTO properties VALUES ($1, $2)", [name, value])
