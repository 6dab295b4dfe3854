"""Embedders of the fastembed library (ONNX, without torch), an optional extra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.extras import ExtraModel
from engine.model.hits import Vectors


class FastEmbedEmbedder:
    """The model `model` of the library's list.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self._model = ExtraModel("fastembed", "fastembed", "TextEmbedding", model)

    @property
    def name(self) -> str:
        return f"fastembed:{self._model.name}"

    @property
    def dimension(self) -> int:
        with self._model.use() as loaded:
            return int(loaded.embedding_size)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed("passage_embed", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed("query_embed", texts)

    def _embed(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._model.use() as loaded:
            rows = list(getattr(loaded, method)(list(texts)))
        return np.ascontiguousarray(rows, dtype=np.float32)
