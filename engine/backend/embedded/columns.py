"""Typed columns that come and go with the schema, within the transaction that changes it."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model.schema import AttributeType, Schema, TypedValue
from engine.model.values import typed_value
from engine.storage.attributes import Columns
from engine.storage.connection import Cursor
from engine.storage.documents import decode_body, scan_documents


def fitted(cursor: Cursor, held: Columns, schema: Schema) -> Columns:
    """The columns that `schema` needs, filled from the stored documents: `held` itself where it has them.

    For the writer's transaction: searches go on with `held` until it is committed.
    """
    wanted = {name: schema.attributes[name].type for name in schema.filterable() if name in schema.attributes}
    added, surplus = held.missing(wanted), held.surplus(wanted)
    if not added and not surplus:
        return held
    columns = held.copy()
    for attribute in surplus:
        columns.retire(cursor, attribute)
    for attribute, kind in added.items():
        columns.add(cursor, attribute, kind)
    _backfill(cursor, columns, added)
    return columns


def _backfill(cursor: Cursor, columns: Columns, added: Mapping[str, AttributeType]) -> None:
    values: dict[str, list[tuple[int, TypedValue]]] = {attribute: [] for attribute in added}
    for rows in scan_documents(cursor, batch=5_000) if added else ():
        for row in rows:
            body = decode_body(row.body)
            for attribute, kind in added.items():
                value = typed_value(kind, body.get(attribute))
                if value is not None:
                    values[attribute].append((row.key, value))
    for attribute, pairs in values.items():
        if pairs:
            columns.fill(cursor, attribute, pairs)
