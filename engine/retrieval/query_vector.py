"""The vector of a question: its rare words count more than the mean of its words lets them.

A static embedder knows no collection, so to its mean a word that every passage holds says as much as one that a single
passage holds. Weights by rarity repair that (Arora, Liang & Ma 2017, "A simple but tough-to-beat baseline for sentence
embeddings"); half of the vector stays the mean, for in long questions rarity alone loses their subject.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.analysis.words import words_with_terms
from engine.embedding.protocol import Embedder
from engine.embedding.wordllama import WordLlamaMean
from engine.model.hits import Vectors

MAX_WORDS = 64
"""Words of a question that are weighed, the rarest."""


def weighs_words(embedder: Embedder) -> bool:
    """Whether a text's vector is made of its words' vectors: those of a model that reads sentences are not."""
    return isinstance(embedder, WordLlamaMean)


def weighted_by_rarity(embedder: Embedder, text: str, rarity: Mapping[str, float]) -> Vectors:
    """The unit vector half way between that of `text` and that of its words, each times its idf.

    Args:
        rarity: idf of the terms of `text`; a word whose term is not there counts nothing.

    Returns:
        Shape ``(dimension,)``; the vector of `text` itself where most words have no weight.
    """
    weights = {word: rarity.get(term, 0.0) for word, term in words_with_terms(text)}
    words = sorted(weights, key=lambda word: -weights[word])[:MAX_WORDS]
    rows = embedder.embed_queries([text, *words])
    idf = np.fromiter((weights[word] for word in words), np.float32, len(words))
    weighed = idf @ rows[1:]
    length = float(np.linalg.norm(weighed))
    # Most words unknown to `rarity`: it read the text in another language.
    if length <= 0.0 or 2 * np.count_nonzero(idf) < len(idf):
        return rows[0]
    middle = rows[0] + weighed / np.float32(length)
    return (middle / max(float(np.linalg.norm(middle)), 1e-9)).astype(np.float32)
