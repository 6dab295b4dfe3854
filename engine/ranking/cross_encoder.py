"""Cross-encoders of the fastembed library (ONNX, without torch), an optional extra.

They read question and passage together, as in Nogueira & Cho 2019 (arXiv 1901.04085).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.errors import InvalidRequest
from engine.extras import ExtraModel
from engine.model.document import Passage
from engine.model.hits import Candidates, top_k

_FAMILY = "fastembed"


class CrossEncoder:
    """The cross-encoder `model` of the library's list.

    The passages it reads are ordered by its judgement. They share out the scores that they came with, so that what
    reads scores later (relevance, chance) still finds the scale of the first ranking.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self.model = ExtraModel(_FAMILY, "fastembed.rerank.cross_encoder", "TextCrossEncoder", model)

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:
        first = len(passages)
        if first < 2:
            return candidates
        labels = candidates.labels[:first]
        judged = top_k(labels, self._scores(query, [f"{p.header}\n{p.text}".strip() for p in passages]), first)
        return Candidates(np.r_[judged.labels, candidates.labels[first:]], candidates.scores)

    def _scores(self, query: str, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        with self.model.use() as loaded:
            return np.fromiter(loaded.rerank(query, list(texts)), np.float32, len(texts))


def load_reranker(spec: str | None) -> CrossEncoder | None:
    """The reranker that `spec` names, ``fastembed:NAME``; None for none.

    Raises:
        InvalidRequest: no such reranker.
        ModelMisconfigured: the extra is not installed, or the model cannot be loaded.
    """
    if spec is None:
        return None
    family, _, model = spec.partition(":")
    if family != _FAMILY or not model.strip():
        raise InvalidRequest(f"Unknown reranker {spec!r}; there is {_FAMILY}:NAME.", path="reranker")
    reranker = CrossEncoder(model.strip())
    with reranker.model.use():
        return reranker
