"""Typed values of documents, read by one attribute or by a filter."""

from __future__ import annotations

import numpy as np

from engine.backend.protocol import Extent
from engine.backend.recent import Recent
from engine.filters.check import CheckedFilter
from engine.model.document import JsonValue
from engine.model.hits import Labels
from engine.model.schema import AttributeType
from engine.store.postgres.connection import Connection
from engine.store.postgres.filters import Condition, compile_condition
from engine.store.postgres.text import escaped, unescaped, unescaped_scalar

ALLOWED_BYTES = 32 * 2**20
"""Of passages that filters allow, remembered by a server process; 4 million of them."""


def condition_of(connection: Connection, part: int, where: CheckedFilter | None) -> Condition:
    """A filter over the documents of a part, as `d`; None for all."""
    if where is None:
        return Condition("true")
    return compile_condition(where, lambda attribute: strings_of(connection, part, attribute))


def strings_of(connection: Connection, part: int, attribute: str) -> list[str]:
    """The distinct strings of an attribute in a part, for patterns."""
    if attribute == "id":
        rows = connection.execute("SELECT id FROM quarry.documents WHERE part = %s", [part])
    else:
        rows = connection.execute(
            "SELECT DISTINCT e FROM quarry.documents d, LATERAL (SELECT jsonb_array_elements_text(CASE "
            "jsonb_typeof(d.attributes -> %s) WHEN 'array' THEN d.attributes -> %s "
            "ELSE jsonb_build_array(d.attributes -> %s) END)) AS elements(e) "
            "WHERE d.part = %s AND d.attributes ? %s",
            [escaped(attribute)] * 3 + [part, escaped(attribute)],
        )
    return [unescaped(value) for (value,) in rows if value is not None]


def values_of(
    connection: Connection, part: int, attribute: str, kind: AttributeType, where: CheckedFilter | None, limit: int
) -> list[tuple[JsonValue, int]]:
    """See `Backend.values`."""
    condition = condition_of(connection, part, where)
    order = 'e COLLATE "C"' if kind.element in {AttributeType.STRING, AttributeType.UUID} else "length(e), e"
    rows = connection.execute(
        (
            f"SELECT e, count(*) FROM quarry.documents d, LATERAL {_elements(kind)} AS elements(e) "
            f"WHERE d.part = %s AND e IS NOT NULL AND {condition.sql} "
            f"GROUP BY e ORDER BY count(*) DESC, {order} LIMIT %s"
        ).encode(),
        [escaped(attribute), part, *condition.params, limit],
    ).fetchall()
    return [(unescaped_scalar(kind, value), count) for value, count in rows]


def extent_of(
    connection: Connection, part: int, attribute: str, kind: AttributeType, where: CheckedFilter | None
) -> Extent | None:
    """See `Backend.extent`."""
    condition = condition_of(connection, part, where)
    row = connection.execute(
        (
            "SELECT min(e::numeric)::text, max(e::numeric)::text "
            f"FROM quarry.documents d, LATERAL {_elements(kind)} AS elements(e) "
            f"WHERE d.part = %s AND e IS NOT NULL AND {condition.sql}"
        ).encode(),
        [escaped(attribute), part, *condition.params],
    ).fetchone()
    if row is None or row[0] is None:
        return None
    return unescaped_scalar(kind, row[0]), unescaped_scalar(kind, row[1])


class AllowedMemory:
    """Which passages filters allow, until the next write. Thread-safe."""

    def __init__(self, most_bytes: int = ALLOWED_BYTES) -> None:
        self._held: Recent[Labels] = Recent(most_bytes)

    def labels(self, connection: Connection, part: int, seq: int, where: CheckedFilter) -> Labels:
        """Labels of the passages whose document satisfies `where`, strictly increasing.

        Args:
            seq: of the namespace in the snapshot of `connection`.
        """
        key = f"{seq} {where!r}"
        held = self._held.take(part, [key]).get(key)
        if held is None:
            held = _allowed(connection, part, condition_of(connection, part, where))
            self._held.keep(part, [(key, held, held.nbytes + len(key))])
        return held


def _allowed(connection: Connection, part: int, where: Condition) -> Labels:
    statement = (
        "SELECT string_agg(int8send(p.label), ''::bytea ORDER BY p.label) FROM quarry.passages p "
        f"JOIN quarry.documents d USING (part, key) WHERE part = %s AND {where.sql}"
    )
    row = connection.execute(statement.encode(), [part, *where.params], binary=True).fetchone()
    packed = row[0] if row and row[0] is not None else b""
    return np.frombuffer(packed, ">i8").astype(np.int64)


def _elements(kind: AttributeType) -> str:
    """The values of one attribute, the elements of a list once each; takes the attribute's name."""
    if kind.is_list:
        return "(SELECT DISTINCT e FROM jsonb_array_elements_text(d.attributes -> %s) e)"
    return "(SELECT d.attributes ->> %s AS e)"
