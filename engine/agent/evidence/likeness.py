"""Which words mean nearly the same, by the word vectors of the default embedder.

"slept" and "sleep", "cost" and "price" are near each other there; "cats" and "dogs", "Mars" and "Saturn" are not, which
is what keeps a near miss from counting as an answer. Words of other letters than Latin ones are made of pieces that say
nothing, and have no likeness.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from engine.embedding.protocol import Embedder

NEAREST, FARTHEST = 0.65, 0.38
"""Cosines from which a word counts for another as much as it can, and below which it does not at all."""
MOST = 0.9
"""What a word counts, as a share of the one that it stands for."""
_KEPT = 16_384
_COMPARED = re.compile(r"[a-z\u00c0-\u024f]{3,}")

Credits = npt.NDArray[np.float32]


class Likeness:
    """Compares words by their vectors, which are remembered. Thread-safe.

    Args:
        embedder: one whose vector of a word is static; its cosines must be of the scale of `NEAREST`.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        self._rows = np.zeros((_KEPT, embedder.dimension), np.float32)

    def credits(self, asked: Sequence[str], words: Iterable[str]) -> dict[str, Credits]:
        """Word → how far it stands for each asked one, in [0, `MOST`]; only words that do for some.

        Args:
            asked: words, lower case, as are `words`.
        """
        near = [word for word in words if _COMPARED.fullmatch(word)]
        wanted = [number for number, word in enumerate(asked) if _COMPARED.fullmatch(word)]
        if not near or not wanted:
            return {}
        rows = self._vectors([*(asked[number] for number in wanted), *near])
        cosines = rows[len(wanted) :] @ rows[: len(wanted)].T
        shares = MOST * np.clip((cosines - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
        out: dict[str, Credits] = {}
        for number in np.flatnonzero(shares.any(axis=1)).tolist():
            row = out[near[number]] = np.zeros(len(asked), np.float32)
            row[wanted] = shares[number]
        return out

    def _vectors(self, words: Sequence[str]) -> Credits:
        with self._lock:
            new = [word for word in dict.fromkeys(words) if word not in self._places]
            if len(self._places) + len(new) > _KEPT:
                self._places.clear()
                new = list(dict.fromkeys(words))
            if len(new) > _KEPT:
                return self._embedder.embed_passages(words)
            if new:
                first = len(self._places)
                self._rows[first : first + len(new)] = self._embedder.embed_passages(new)
                self._places |= {word: first + number for number, word in enumerate(new)}
            return self._rows[[self._places[word] for word in words]]
