"""Rows of the catalog that are also held in memory, so that a lookup costs no query."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from engine.errors import StorageError
from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import Cursor

Rows = TypeVar("Rows")


class Mirror(ABC, Generic[Rows]):
    """Rows in memory under a short lock, and their tables behind a writer's lock. One object writes its tables.

    The memory's lock is never held over I/O, so that a lookup waits for no disk: event loops look keys up here.
    """

    def __init__(self, file: CatalogFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._writer = threading.RLock()
        self._stale = False
        self._adopt(self._read())

    @abstractmethod
    def _read(self) -> Rows:
        """Read the tables."""

    @abstractmethod
    def _adopt(self, rows: Rows) -> None:
        """Put `rows` in the place of what is in memory; the memory's lock is held."""

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Be the only writer, with the rows in memory as they are in the file.

        Raises:
            StorageError: an earlier write failed, and what it left still cannot be read.
        """
        with self._writer:
            if self._stale:
                self._reload()
            try:
                yield
            except BaseException:
                self._reload_if_stale()
                raise
            self._stale = False

    @contextmanager
    def _writing(self) -> Generator[Cursor]:
        """A transaction within `_changing`; the caller moves the rows in memory after it."""
        # Until then: whatever fails on the way, it may have been committed.
        self._stale = True
        try:
            with self._file.write() as cursor:
                yield cursor
        except StorageError:
            self._reload_if_stale()
            raise

    def _reload_if_stale(self) -> None:
        """Read what is there; where that fails, the next writer does it."""
        if self._stale:
            with suppress(StorageError):
                self._reload()

    def _reload(self) -> None:
        rows = self._read()
        with self._lock:
            self._adopt(rows)
        self._stale = False
