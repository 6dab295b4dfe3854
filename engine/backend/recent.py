"""Entries used lately, bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

LARGE = 16
"""An entry above one such part of the whole is not kept: it would push out too many others."""

T = TypeVar("T")


class Recent(Generic[T]):
    """Entries by owner and key, those used least recently forgotten beyond `most_bytes`. Thread-safe.

    Args:
        largest: share of the whole above which an entry is not kept.
    """

    def __init__(self, most_bytes: int, largest: float = 1 / LARGE) -> None:
        self._most = most_bytes
        self._largest = largest * most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[int, int | str], tuple[T, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What the entries take, as they were told."""
        return self._bytes

    def take(self, owner: int, keys: Iterable[int | str]) -> dict[int | str, T]:
        """The entries there are."""
        found: dict[int | str, T] = {}
        with self._lock:
            for key in keys:
                if (held := self._held.get((owner, key))) is not None:
                    self._held.move_to_end((owner, key))
                    found[key] = held[0]
        return found

    def keep(self, owner: int, entries: Iterable[tuple[int | str, T, int]]) -> None:
        """Remember ``(key, entry, bytes)``."""
        with self._lock:
            for key, entry, size in entries:
                if size > self._largest:
                    continue
                before = self._held.pop((owner, key), None)
                self._held[owner, key] = entry, size
                self._bytes += size - (before[1] if before is not None else 0)
            while self._bytes > self._most:
                self._bytes -= self._held.popitem(last=False)[1][1]

    def drop(self, owner: int) -> None:
        """Let go of all that belongs to one owner."""
        with self._lock:
            for place in [place for place in self._held if place[0] == owner]:
                self._bytes -= self._held.pop(place)[1]
