"""The database of a new namespace: made once for all that begin alike, and written as bytes from then on.

Making one takes DuckDB an opening, a transaction for each migration and a checkpoint, a third of what a first upload of
a few documents takes. Who makes many namespaces gives them the same schema.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.backend.embedded.columns import fitted
from engine.backend.embedded.record import read_record, write_identity, write_schema
from engine.backend.protocol import NamespaceSpec
from engine.settings import EngineSettings
from engine.storage.attributes import Columns
from engine.storage.connection import connect
from engine.storage.files import translated_os_errors
from engine.storage.journal import begin_after
from engine.storage.migrate import migrate, shipped

KEPT = 4
"""Kinds of them that are remembered, at most: one takes about a megabyte."""


class _Kind(NamedTuple):
    embedder: str
    dimension: int
    schema: bytes
    seq: int


_made: OrderedDict[_Kind, bytes] = OrderedDict()
_lock = threading.Lock()


def write_blank(path: Path, spec: NamespaceSpec, settings: EngineSettings, seq: int) -> None:
    """Write a database with the schema and the columns of `spec` but no document; durable on return.

    The folder must be private. The database has no epoch: its first write settles that.

    Args:
        seq: journal sequence to go on from.
    """
    kind = _Kind(spec.embedder, spec.dimension, msgspec.json.encode(spec.schema), seq)
    with _lock:
        content = _made.get(kind)
    if content is None:
        _make(path, spec, settings, seq)
        with translated_os_errors():
            content = path.read_bytes()
        with _lock:
            _made[kind] = content
            while len(_made) > KEPT:
                _made.popitem(last=False)
        return
    with translated_os_errors(), path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _make(path: Path, spec: NamespaceSpec, settings: EngineSettings, seq: int) -> None:
    storage = settings.storage
    with closing(connect(path, threads=storage.threads, memory_limit=storage.memory_limit)) as database:
        migrate(database, shipped("namespace"))
        with database.transaction() as cursor:
            write_identity(cursor, spec)
            write_schema(cursor, read_record(cursor), spec.schema)
            fitted(cursor, Columns(cursor), spec.schema)
            begin_after(cursor, seq)
