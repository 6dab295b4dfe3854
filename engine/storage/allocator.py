"""Giving free memory back to the system, of which a process has two kinds.

DuckDB's blocks come from an allocator of its own, whose threads give pages back: one set for the whole process. Without
them each thread that ever ran a statement keeps the pages of its largest. The close of any database ends them
for all, so that one that is still open has to ask for them again. All else comes from the C library.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from weakref import WeakSet

import duckdb

from engine.storage.cursor import Cursor

SETTING = "allocator_background_threads"
"""Has to stay settable in every database that is passed to `joined`."""

_lock = threading.Lock()
# One that nobody closed is closed when nobody refers to it any more, which this does not count as.
_open: WeakSet[Cursor] = WeakSet()


def joined(connection: Cursor) -> None:
    """A database was opened; `connection` stays the caller's and is no longer used once it is passed to `left`."""
    with _lock:
        connection.execute(f"SET {SETTING} = true")
        _open.add(connection)


def left(connection: Cursor) -> None:
    """The database of `connection` is about to be closed."""
    with _lock:
        _open.discard(connection)


def resume() -> None:
    """A database was closed, or could not be opened."""
    with _lock:
        for connection in _open:
            # An instance that broke takes no settings.
            with suppress(duckdb.Error):
                connection.cursor().execute(f"SET {SETTING} = true")
                return


def trim() -> None:
    """Have the C library give back what is free between other memory; nothing where it is not glibc.

    It does so by itself only at the end of its heap. Takes some ten milliseconds where hundreds of megabytes are free.
    """
    if (malloc_trim := _malloc_trim()) is not None:
        malloc_trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    malloc_trim.argtypes, malloc_trim.restype = [ctypes.c_size_t], ctypes.c_int
    return malloc_trim
