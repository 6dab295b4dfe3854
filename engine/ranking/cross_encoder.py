"""Cross-encoders of the fastembed library (ONNX, without torch), an optional extra.

They read question and passage together, as in Nogueira & Cho 2019 (arXiv 1901.04085).
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from engine.errors import InvalidRequest, ModelMisconfigured
from engine.model.document import Passage
from engine.model.hits import Candidates, top_k

_FAMILY = "fastembed"


class CrossEncoder:
    """The cross-encoder `model` of the library's list. Loaded at the first use, and fetched then if it is not cached.

    The passages it reads are ordered by its judgement. They share out the scores that they came with, so that what
    reads scores later (relevance, chance) still finds the scale of the first ranking.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._loaded: Any = None
        # The tokenizers of a model refuse to be borrowed twice.
        self._lock = threading.Lock()

    def rerank(self, query: str, candidates: Candidates, passages: Sequence[Passage]) -> Candidates:
        first = len(passages)
        if first < 2:
            return candidates
        labels = candidates.labels[:first]
        judged = top_k(labels, self._scores(query, [f"{p.header}\n{p.text}".strip() for p in passages]), first)
        return Candidates(np.r_[judged.labels, candidates.labels[first:]], candidates.scores)

    def _scores(self, query: str, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        with self._lock:
            return np.fromiter(self.load().rerank(query, list(texts)), np.float32, len(texts))

    def load(self) -> Any:
        """The library's model, loaded once."""
        if self._loaded is None:
            try:
                library = cast("Any", importlib.import_module("fastembed.rerank.cross_encoder"))
            except ImportError as error:
                raise ModelMisconfigured(
                    "This reranker needs the extra 'fastembed': pip install 'quarry-search[fastembed]'."
                ) from error
            try:
                self._loaded = library.TextCrossEncoder(self._model)
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelMisconfigured(f"fastembed cannot load the reranker {self._model!r}.") from error
        return self._loaded


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
    reranker.load()
    return reranker
