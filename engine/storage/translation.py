"""DuckDB's errors as ours, in one place.

Messages of the driver hold paths, SQL and sometimes values of documents, so none of their text is passed on; the
original stays as ``__cause__`` for the log of the operator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager

import duckdb

from engine.errors import (
    CorruptData,
    DataDirectoryLocked,
    EngineClosed,
    QuarryError,
    SearchTimeout,
    StorageError,
    StorageFull,
    UnsupportedFormat,
)

_OWNER = re.compile(r"\(PID (\d+)\)")
_FULL = ("no space left", "disk quota exceeded", "max_temp_directory_size")
_DAMAGED = (
    "checksum",
    "corrupt",
    "not a valid duckdb database file",
    "could not read enough bytes",
    "failure while replaying wal",
    "checkpoint iteration",
)
_NEWER = ("newer version", "version number")


@contextmanager
def translated_errors(on_fatal: Callable[[], None] | None = None) -> Generator[None]:
    """Raise errors of the driver inside the block as errors of the engine.

    An interrupted statement becomes `SearchTimeout`, whether its deadline passed or its search was cancelled: where
    it was cancelled nobody waits for the answer.

    Args:
        on_fatal: called when the database instance has become unusable and must be opened anew.

    Raises:
        DataDirectoryLocked: another process has the file open; the message names its PID.
        CorruptData: the file or its write-ahead log is damaged.
        StorageFull: no space on the disk.
        UnsupportedFormat: a newer DuckDB wrote the file.
        SearchTimeout: the statement was interrupted.
        EngineClosed: the connection is closed.
        StorageError: anything else.
    """
    try:
        yield
    except duckdb.Error as error:
        if on_fatal is not None and is_fatal(error):
            on_fatal()
        raise translate(error) from error


def is_fatal(error: duckdb.Error) -> bool:
    """Whether every later statement on the same instance will fail, reads included."""
    return isinstance(error, (duckdb.FatalException, duckdb.InternalException)) or "invalidated" in str(error)


def translate(error: duckdb.Error) -> QuarryError:
    """The error of the engine that stands for one of the driver.

    >>> translate(duckdb.IOException("Could not set lock: Conflicting lock is held in x (PID 7)")).message
    'The data is in use by another process (PID 7).'
    """
    text = str(error).lower()
    if isinstance(error, duckdb.InterruptException):
        return SearchTimeout("The query was stopped before it ended.")
    if isinstance(error, duckdb.ConnectionException) and "closed" in text:
        return EngineClosed()
    if any(sign in text for sign in _FULL):
        return StorageFull("The disk is full.")
    if isinstance(error, duckdb.IOException) and "conflicting lock" in text:
        owner = _OWNER.search(str(error))
        return DataDirectoryLocked(f"The data is in use by another process (PID {owner[1] if owner else 'unknown'}).")
    if isinstance(error, duckdb.SerializationException) or any(sign in text for sign in _DAMAGED):
        return CorruptData("A database file is damaged.")
    if any(sign in text for sign in _NEWER):
        return UnsupportedFormat("A database file was written by a newer version.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return StorageError("A statement needed more memory than the limit allows.")
    if is_fatal(error):
        return StorageError("The database stopped after an internal failure and must be opened again.")
    return StorageError(f"The database refused a statement ({type(error).__name__}).")
