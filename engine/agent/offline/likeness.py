"""Which words mean nearly the same, by the word vectors of the default embedder.

"slept" and "sleep", "cost" and "price", "Brücke" and "Brücken" are near each other there; "cats" and "dogs", "Mars" and
"Saturn" are not, which is what keeps a near miss from counting as an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.embedding.protocol import Embedder

NEAREST, FARTHEST = 0.65, 0.38
"""Cosines from which a word counts for another as much as it can, and below which it does not at all."""
MOST = 0.9
"""What a word counts, as a share of the one that it stands for."""

Credits = npt.NDArray[np.float32]


class Likeness:
    """Compares words by their vectors.

    Args:
        embedder: one whose vector of a word is static; its cosines must be of the scale of `NEAREST`.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def credits(self, asked: Sequence[str], texts: Sequence[frozenset[str]]) -> Credits:
        """How far each text has a word for each asked one, shape ``(len(texts), len(asked))``, in [0, `MOST`].

        Args:
            asked: words, lower case.
            texts: the words of each text, lower case.
        """
        words = list(frozenset[str]().union(*texts))
        if not asked or not words:
            return np.zeros((len(texts), len(asked)), np.float32)
        rows = self._embedder.embed_passages([*asked, *words])
        cosines = rows[len(asked) :] @ rows[: len(asked)].T
        shares = MOST * np.clip((cosines - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
        # Of all words few are near an asked one, and only they are looked up in the texts.
        near = {words[number]: shares[number] for number in np.flatnonzero(shares.any(axis=1)).tolist()}
        out = np.zeros((len(texts), len(asked)), np.float32)
        for row, text in zip(out, texts, strict=True):
            for word in near.keys() & text:
                np.maximum(row, near[word], out=row)
        return out
