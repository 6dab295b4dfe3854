"""Named values of one namespace's database, such as its schema."""

from __future__ import annotations

from engine.storage.connection import Cursor


def read_properties(cursor: Cursor) -> dict[str, str]:
    """All of them."""
    return dict(cursor.execute("SELECT name, value FROM properties").fetchall())


def write_property(cursor: Cursor, name: str, value: str) -> None:
    """Set the value, within the caller's transaction."""
    cursor.execute("DELETE FROM properties WHERE name = $1", [name])
    cursor.execute("INSERT INTO properties VALUES ($1, $2)", [name, value])
