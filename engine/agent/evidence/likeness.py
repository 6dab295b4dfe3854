"""Which words mean nearly the same, by the word vectors of the default embedder.

"slept" and "sleep", "cost" and "price" are near each other there; "cats" and "dogs", "Mars" and "Saturn" are not, which
is what keeps a near miss from counting as an answer. Words of other letters than Latin ones are made of pieces that say
nothing, and have no likeness.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from engine.agent.evidence.vocabulary import Numbers, Vocabulary
from engine.embedding.products import product
from engine.embedding.protocol import Embedder

NEAREST, FARTHEST = 0.65, 0.38
"""Cosines from which a word counts for another as much as it can, and below which it does not at all."""
MOST = 0.9
"""What a word counts, as a share of the one that it stands for."""
_KEPT = 16_384
"""Words whose vectors are remembered: 16 MB of 256 dimensions."""
_NEW, _OTHER = -2, -1
"""In place of a row: not looked at, and of other letters."""
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
        self._rows = np.zeros((_KEPT, embedder.dimension), np.float32)
        self._row_of: dict[str, int] = {}
        self._vocabulary: Vocabulary | None = None
        self._row_of_number = np.empty(0, np.int32)

    def credits(self, asked: Sequence[str], words: Iterable[str]) -> dict[str, Credits]:
        """Word → how far it stands for each asked one, in [0, `MOST`]; only words that do for some.

        Args:
            asked: words, lower case, as are `words`.
        """
        near = [word for word in words if _COMPARED.fullmatch(word)]
        wanted = [number for number, word in enumerate(asked) if _COMPARED.fullmatch(word)]
        if not near or not wanted:
            return {}
        with self._lock:
            rows = self._vectors([*(asked[number] for number in wanted), *near])
        cosines = rows[len(wanted) :] @ rows[: len(wanted)].T
        shares = MOST * np.clip((cosines - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
        out: dict[str, Credits] = {}
        for number in np.flatnonzero(shares.any(axis=1)).tolist():
            row = out[near[number]] = np.zeros(len(asked), np.float32)
            row[wanted] = shares[number]
        return out

    def of_words(self, asked: Sequence[str], vocabulary: Vocabulary, words: Numbers) -> Iterator[tuple[int, Credits]]:
        """As `credits`, for words by their numbers, each once."""
        wanted = [number for number, word in enumerate(asked) if _COMPARED.fullmatch(word)]
        if not wanted:
            return
        with self._lock:
            near, rows = self._numbered(vocabulary, words)
            first = self._vectors([asked[number] for number in wanted])
        shares = MOST * np.clip((product(rows, first.T) - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
        for number in np.flatnonzero(shares.any(axis=1)).tolist():
            row = np.zeros(len(asked), np.float32)
            row[wanted] = shares[number]
            yield int(near[number]), row

    def _numbered(self, vocabulary: Vocabulary, words: Numbers) -> tuple[Numbers, Credits]:
        """The comparable ones of `words`, with their vectors."""
        if vocabulary is not self._vocabulary:
            self._vocabulary, self._row_of_number = vocabulary, np.empty(0, np.int32)
        if len(vocabulary) > len(self._row_of_number):
            more = np.full(len(vocabulary) - len(self._row_of_number), _NEW, np.int32)
            self._row_of_number = np.concatenate([self._row_of_number, more])
        new: list[int] = words[self._row_of_number[words] == _NEW].tolist()
        if new:
            compared = [number for number in new if _COMPARED.fullmatch(vocabulary.words[number])]
            self._row_of_number[new] = _OTHER
            if len(self._row_of) + len(compared) > _KEPT:
                self._clear()
                cleared: list[int] = words[self._row_of_number[words] == _NEW].tolist()
                compared = [*cleared, *compared]
            if len(compared) > _KEPT:
                self._row_of_number[compared] = _NEW
                texts = [vocabulary.words[number] for number in compared]
                return np.asarray(compared, np.int32), self._embedder.embed_passages(texts)
            self._row_of_number[compared] = self._places([vocabulary.words[number] for number in compared])
        near = words[self._row_of_number[words] >= 0]
        return near, self._rows[self._row_of_number[near]]

    def _vectors(self, words: Sequence[str]) -> Credits:
        if len(self._row_of) + len(words) > _KEPT:
            self._clear()
        if len(words) > _KEPT:
            return self._embedder.embed_passages(words)
        return self._rows[self._places(words)]

    def _places(self, words: Sequence[str]) -> list[int]:
        """Where the vectors of words are; there is room for them."""
        new = [word for word in dict.fromkeys(words) if word not in self._row_of]
        if new:
            first = len(self._row_of)
            self._rows[first : first + len(new)] = self._embedder.embed_passages(new)
            self._row_of |= {word: first + number for number, word in enumerate(new)}
        return [self._row_of[word] for word in words]

    def _clear(self) -> None:
        self._row_of.clear()
        self._row_of_number[self._row_of_number >= 0] = _NEW
