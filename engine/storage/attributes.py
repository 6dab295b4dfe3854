"""The `attributes` table of one namespace: one typed column a filterable attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy

import numpy as np
import numpy.typing as npt

from engine.filters.sql import COLUMN_TYPES, Predicate
from engine.model.document import ROOT_ATTRIBUTE, JsonValue
from engine.model.schema import ORDERED_TYPES, AttributeType, TypedValue
from engine.storage.connection import Cursor, insert_rows

_RETIRED = "$retired."
"""Begins the name of an attribute whose column is no longer wanted; no attribute of a user begins so."""


class Columns:
    """Which column holds which attribute. Names in SQL are ours (``a0``, ``a1``, …), never the user's.

    A writer changes a `copy` within its transaction and publishes it after the commit: searches read the one they
    took. A column that is no longer wanted is kept until the next opening, for searches that began before.
    """

    def __init__(self, cursor: Cursor) -> None:
        rows = cursor.execute("SELECT attribute, type, name FROM attribute_columns").fetchall()
        self._held: dict[str, tuple[AttributeType, str]] = {
            a: (AttributeType(t), n) for a, t, n in rows if not a.startswith(_RETIRED)
        }
        self._taken = {name for _, _, name in rows}
        self._before: dict[str, str] = {}

    def copy(self) -> Columns:
        """The same, to be changed."""
        return deepcopy(self)

    def missing(self, wanted: Mapping[str, AttributeType]) -> dict[str, AttributeType]:
        """Those of `wanted` that have no column yet, or one of another type."""
        return {a: t for a, t in wanted.items() if a not in self._held or self._held[a][0] is not t}

    def sql_names(self) -> dict[str, str]:
        """Attribute to the expression that stands for it in a predicate; ``id`` and the root always have one."""
        always = {"id": "d.id", ROOT_ATTRIBUTE: "NULL::VARCHAR"}
        held = {attribute: name for attribute, (_, name) in self._held.items()}
        return always | {attribute: f"a.{name}" for attribute, name in (self._before | held).items()}

    def types(self) -> dict[str, AttributeType]:
        """The attributes that have a column, and its type."""
        return {attribute: kind for attribute, (kind, _) in self._held.items()}

    def add(self, cursor: Cursor, attribute: str, kind: AttributeType) -> None:
        """Give `attribute` a column of type `kind`; a column of another type is converted."""
        if attribute in self._held:
            name = self._held[attribute][1]
            cursor.execute(f"ALTER TABLE attributes ALTER COLUMN {name} TYPE {COLUMN_TYPES[kind]}")
            cursor.execute("UPDATE attribute_columns SET type = $1 WHERE attribute = $2", [kind.value, attribute])
        else:
            name = f"a{1 + max((int(taken[1:]) for taken in self._taken), default=-1)}"
            cursor.execute(f"ALTER TABLE attributes ADD COLUMN {name} {COLUMN_TYPES[kind]}")
            cursor.execute("INSERT INTO attribute_columns VALUES ($1, $2, $3)", [attribute, kind.value, name])
            self._taken.add(name)
        self._held[attribute] = (kind, name)

    def surplus(self, wanted: Mapping[str, AttributeType]) -> list[str]:
        """Attributes that have a column but are not wanted."""
        return [attribute for attribute in self._held if attribute not in wanted]

    def retire(self, cursor: Cursor, attribute: str) -> None:
        """Fill the column no more: it would miss the values of documents that come while it is not wanted."""
        name = self._held.pop(attribute)[1]
        cursor.execute("UPDATE attribute_columns SET attribute = $1 WHERE attribute = $2", [_RETIRED + name, attribute])
        self._before[attribute] = name

    def fill(self, cursor: Cursor, attribute: str, values: Iterable[tuple[int, TypedValue]]) -> None:
        """Set one column for existing rows, by document key."""
        kind, name = self._held[attribute]
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE backfill (key BIGINT, held {COLUMN_TYPES[kind]})")
        insert_rows(cursor, "backfill", ("key", "held"), list(values))
        cursor.execute(f"UPDATE attributes SET {name} = b.held FROM backfill b WHERE attributes.key = b.key")  # noqa: S608
        cursor.execute("DROP TABLE backfill")

    def insert(self, cursor: Cursor, rows: Sequence[tuple[int, Mapping[str, TypedValue]]]) -> None:
        """Insert the typed values of new documents, by key; values without a column are ignored."""
        order = list(self._held.items())
        names = ("key", *(name for _, (_, name) in order))
        attributes = [attribute for attribute, _ in order]
        insert_rows(cursor, "attributes", names, [(key, *(values.get(a) for a in attributes)) for key, values in rows])

    def values(
        self, cursor: Cursor, attribute: str, limit: int, where: Predicate | None = None
    ) -> list[tuple[JsonValue, int]]:
        """Distinct values among the documents that satisfy `where`, with counts, most frequent first, then by value."""
        if attribute not in self._held:
            return []
        found = cursor.execute(
            f"SELECT held, count(*) FROM ({self._source(attribute, where)}) WHERE held IS NOT NULL "  # noqa: S608
            f"GROUP BY held ORDER BY count(*) DESC, held LIMIT {int(limit)}",
            [] if where is None else list(where.params),
        )
        return [(held, count) for held, count in found.fetchall()]

    def extent(
        self, cursor: Cursor, attribute: str, where: Predicate | None = None
    ) -> tuple[JsonValue, JsonValue] | None:
        """The least and the largest value of numbers or dates among the documents that satisfy `where`."""
        if attribute not in self._held or self._held[attribute][0].element not in ORDERED_TYPES:
            return None
        row = cursor.execute(
            f"SELECT min(held), max(held) FROM ({self._source(attribute, where)})",  # noqa: S608
            [] if where is None else list(where.params),
        ).fetchone()
        return None if row is None or row[0] is None else (row[0], row[1])

    def _source(self, attribute: str, where: Predicate | None) -> str:
        """The values as a query with the column ``held``."""
        kind, name = self._held[attribute]
        # An element that stands twice in one list counts its document once.
        expression = f"unnest(list_distinct(a.{name}))" if kind.is_list else f"a.{name}"
        return f"SELECT {expression} AS held FROM {_matching(where)}"  # noqa: S608 - names are ours


def drop_retired(cursor: Cursor) -> None:
    """Take away the columns that were retired, while nobody searches. Within the caller's transaction."""
    rows = cursor.execute("SELECT name FROM attribute_columns WHERE starts_with(attribute, $1)", [_RETIRED]).fetchall()
    for (name,) in rows:
        cursor.execute(f"ALTER TABLE attributes DROP COLUMN {name}")
    cursor.execute("DELETE FROM attribute_columns WHERE starts_with(attribute, $1)", [_RETIRED])


def has_retired(cursor: Cursor) -> bool:
    """Whether `drop_retired` has something to do."""
    row = cursor.execute("SELECT 1 FROM attribute_columns WHERE starts_with(attribute, $1)", [_RETIRED]).fetchone()
    return row is not None


def delete_attributes(cursor: Cursor, keys: Sequence[int]) -> None:
    """Delete the rows of `keys`."""
    cursor.execute("DELETE FROM attributes WHERE key IN (SELECT unnest($1::BIGINT[]))", [list(keys)])


def matching_keys(cursor: Cursor, predicate: Predicate) -> npt.NDArray[np.int64]:
    """Keys of the documents that satisfy `predicate`, in no order."""
    found = cursor.execute(f"SELECT key FROM {_matching(predicate)}", list(predicate.params))  # noqa: S608
    return np.asarray(found.fetchnumpy()["key"], np.int64)


def matching_keys_after(cursor: Cursor, predicate: Predicate, after: int, limit: int) -> list[int]:
    """Keys above `after` of the documents that satisfy `predicate`, ascending, at most `limit`."""
    found = cursor.execute(
        f"SELECT key FROM {_matching(predicate)} AND key > ? ORDER BY key LIMIT ?",  # noqa: S608
        [*predicate.params, after, limit],
    )
    return [key for (key,) in found.fetchall()]


def matching_ids(cursor: Cursor, predicate: Predicate, ids: Sequence[str]) -> set[str]:
    """Those of `ids` whose document satisfies `predicate`."""
    found = cursor.execute(
        f"SELECT d.id FROM attributes a JOIN documents d USING (key) WHERE {predicate.sql} "  # noqa: S608
        "AND d.id IN (SELECT unnest(?::VARCHAR[]))",
        [*predicate.params, list(ids)],
    )
    return {document_id for (document_id,) in found.fetchall()}


def _matching(where: Predicate | None) -> str:
    """The rows of `attributes a` that satisfy `where`, as what stands behind FROM."""
    if where is None:
        return "attributes a"
    # The join is needed only where the predicate speaks of the document's own id.
    source = "attributes a JOIN documents d USING (key)" if "d.id" in where.sql else "attributes a"
    return f"{source} WHERE {where.sql}"
