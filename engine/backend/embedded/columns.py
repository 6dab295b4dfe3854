"""Typed columns that appear while documents are already there."""

from __future__ import annotations

from collections.abc import Mapping

from engine.backend.embedded.store import NamespaceStore
from engine.model.schema import AttributeType, Schema, TypedValue
from engine.model.values import typed_value
from engine.storage.attributes import Columns
from engine.storage.connection import Cursor
from engine.storage.documents import decode_body, scan_documents


def ensure_columns(store: NamespaceStore, schema: Schema) -> None:
    """Give every filterable attribute its typed column, filled from the stored documents; no other has one."""
    wanted = {name: schema.attributes[name].type for name in schema.filterable()}
    with store.write_lock:
        added, surplus = store.columns.missing(wanted), store.columns.surplus(wanted)
        if not added and not surplus:
            return
        try:
            with store.database.transaction() as cursor:
                for attribute in surplus:
                    store.columns.remove(cursor, attribute)
                for attribute, kind in added.items():
                    store.columns.add(cursor, attribute, kind)
                _backfill(store, cursor, added)
        except BaseException:
            with store.reading() as cursor:
                store.columns = Columns(cursor)
            raise


def _backfill(store: NamespaceStore, cursor: Cursor, added: Mapping[str, AttributeType]) -> None:
    values: dict[str, list[tuple[int, TypedValue]]] = {attribute: [] for attribute in added}
    for rows in scan_documents(cursor, batch=5_000):
        for row in rows:
            body = decode_body(row.body)
            for attribute, kind in added.items():
                value = typed_value(kind, body.get(attribute))
                if value is not None:
                    values[attribute].append((row.key, value))
    for attribute, pairs in values.items():
        if pairs:
            store.columns.fill(cursor, attribute, pairs)
