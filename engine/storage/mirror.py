"""Rows of the catalog that are also held in memory, so that a lookup costs no query."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager

from engine.errors import StorageError
from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import Cursor


class Mirror(ABC):
    """A lock over rows in memory and their tables. One object is the only writer of its tables."""

    def __init__(self, file: CatalogFile) -> None:
        self._file = file
        self._lock = threading.RLock()
        self._stale = True

    @abstractmethod
    def _load(self) -> None:
        """Read the tables; the lock is held."""

    @contextmanager
    def _fresh(self) -> Generator[None]:
        """Hold the lock, with the rows in memory as they are in the file."""
        with self._lock:
            if self._stale:
                self._load()
                self._stale = False
            yield

    @contextmanager
    def _writing(self) -> Generator[Cursor]:
        """A transaction; the caller moves the rows in memory after it."""
        try:
            with self._file.write() as cursor:
                yield cursor
        except StorageError:
            # It may have been committed all the same; the next use reads what is there.
            self._stale = True
            raise
