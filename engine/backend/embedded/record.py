"""What a namespace's database says of the namespace itself: schema, embedder, counts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from engine.backend.protocol import NamespaceSpec
from engine.model.schema import Schema
from engine.storage.connection import Cursor
from engine.storage.documents import count_documents
from engine.storage.properties import read_properties, write_property

T = TypeVar("T")

_DIMENSION = "dimension"
_EMBEDDER = "embedder"
_EPOCH = "epoch"
_SCHEMA = "schema"
_SEARCHED = "searched"


class Record(msgspec.Struct, frozen=True):
    """The namespace as of one commit.

    Attributes:
        schema: None where a version wrote it that kept the schema in the catalog alone.
        searched: the attributes that the stored passages were derived from, sorted; None before the first write.
        documents: how many there are.
        epoch: another text for each database that a namespace has had: keys of documents mean nothing in the next one.
            Empty before the first write.
    """

    embedder: str
    dimension: int
    schema: Schema | None
    searched: tuple[str, ...] | None
    documents: int
    epoch: str = ""


def read_record(cursor: Cursor) -> Record:
    """As of the cursor's snapshot."""
    held = read_properties(cursor)
    return Record(
        embedder=held.get(_EMBEDDER, ""),
        dimension=int(held.get(_DIMENSION, 0)),
        schema=_decoded(held, _SCHEMA, Schema),
        searched=_decoded(held, _SEARCHED, tuple[str, ...]),
        documents=count_documents(cursor),
        epoch=held.get(_EPOCH, ""),
    )


def write_identity(cursor: Cursor, spec: NamespaceSpec) -> None:
    """What is settled when a namespace is made."""
    write_property(cursor, _DIMENSION, str(spec.dimension))
    write_property(cursor, _EMBEDDER, spec.embedder)


def with_epoch(cursor: Cursor, before: Record) -> Record:
    """The record with an epoch: one of its own, within the caller's transaction, where it has none yet."""
    if before.epoch:
        return before
    epoch = secrets.token_hex(4)
    write_property(cursor, _EPOCH, epoch)
    return msgspec.structs.replace(before, epoch=epoch)


def write_schema(cursor: Cursor, before: Record, schema: Schema) -> Record:
    """Store what differs from `before`, within the caller's transaction; the record with `schema`."""
    searched = tuple(sorted(schema.searchable()))
    if schema != before.schema:
        write_property(cursor, _SCHEMA, msgspec.json.encode(schema).decode())
    if searched != before.searched:
        write_property(cursor, _SEARCHED, msgspec.json.encode(searched).decode())
    return msgspec.structs.replace(before, schema=schema, searched=searched)


def _decoded(held: Mapping[str, str], name: str, kind: type[T]) -> T | None:
    return msgspec.json.decode(held[name], type=kind) if name in held else None
