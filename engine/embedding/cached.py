"""Remembers the vectors of the latest queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from engine.embedding.protocol import Embedder
from engine.model.hits import Vectors


class CachedEmbedder:
    """Embeds each query once while it is among the last `capacity` used. Passages pass through.

    Worth it for an embedder that costs more than a look-up: a model, or one behind a network.
    """

    def __init__(self, inner: Embedder, *, capacity: int = 1024) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be >= 1, got {capacity}")
        self._inner = inner
        self._capacity = capacity
        self._rows: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the inner embedder; only queries that are not remembered reach it, each once."""
        found = self._take(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # Outside the lock: two threads may embed the same query, but none waits for another's.
            found.update(zip(missing, self._inner.embed_queries(missing), strict=True))
            self._keep(missing, found)
        rows = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            rows[row] = found[text]
        return rows

    def _take(self, texts: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if text in self._rows:
                    self._rows.move_to_end(text)
                    found[text] = self._rows[text]
        return found

    def _keep(self, texts: Sequence[str], rows: dict[str, Vectors]) -> None:
        with self._lock:
            for text in texts:
                # A copy, or one row would keep the whole batch alive.
                self._rows[text] = rows[text].copy()
                self._rows.move_to_end(text)
            while len(self._rows) > self._capacity:
                self._rows.popitem(last=False)
