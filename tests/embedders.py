"""A cheap deterministic embedder for tests that are not about meaning."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from engine.model.hits import Vectors


class HashingEmbedder:
    """Sums a fixed random row for each word: texts that share words are near. Unit rows, 32 dimensions."""

    name = "hashing-32"
    dimension = 32

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.stack([self._row(text) for text in texts]) if texts else np.empty((0, 32), np.float32)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def _row(self, text: str) -> np.ndarray:
        seeds = [zlib.crc32(word.encode()) for word in text.casefold().split()] or [0]
        return np.sum([np.random.default_rng(seed).standard_normal(32) for seed in seeds], axis=0)
