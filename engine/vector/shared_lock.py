"""A lock that many hold together or one holds alone."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager


class SharedLock:
    """Held shared by any number of threads, or alone by one. Who waits to be alone goes first. Not reentrant."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._waiting = 0

    @contextmanager
    def shared(self) -> Generator[None]:
        with self._changed:
            while self._alone or self._waiting:
                self._changed.wait()
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                if not self._sharing:
                    self._changed.notify_all()

    @contextmanager
    def alone(self) -> Generator[None]:
        with self._changed:
            self._waiting += 1
            try:
                while self._alone or self._sharing:
                    self._changed.wait()
            finally:
                self._waiting -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
