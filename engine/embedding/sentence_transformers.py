"""Embedders of the sentence-transformers library, an optional extra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import ModelMisconfigured
from engine.extras import ExtraModel
from engine.model.hits import Vectors


class SentenceTransformersEmbedder:
    """The model `model` as the library finds it: a name of its hub or a folder.

    Models that embed questions and passages differently are asked for each in its own way.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self._model = ExtraModel("sentence-transformers", "sentence_transformers", "SentenceTransformer", model)

    @property
    def name(self) -> str:
        return f"sentence-transformers:{self._model.name}"

    @property
    def dimension(self) -> int:
        with self._model.use() as loaded:
            dimension = loaded.get_sentence_embedding_dimension()
        if not isinstance(dimension, int):
            raise ModelMisconfigured(f"The model {self._model.name!r} does not say how wide its vectors are.")
        return dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode("encode_document", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encode("encode_query", texts)

    def _encode(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._model.use() as loaded:
            # Before version 5 there is one method for both kinds of text.
            encode = getattr(loaded, method, None) or loaded.encode
            rows = encode(list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        return np.ascontiguousarray(rows, dtype=np.float32)
