"""Embedders of the sentence-transformers library, an optional extra. The only importer of it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from engine.errors import ModelMisconfigured
from engine.model.hits import Vectors


class SentenceTransformersEmbedder:
    """The model `model` as the library finds it: a name of its hub or a folder. Loaded at the first use.

    Models that embed questions and passages differently are asked for each in its own way.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._loaded: Any = None
        # One text batch at a time: the library's tokenizers refuse to be borrowed twice.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"sentence-transformers:{self._model}"

    @property
    def dimension(self) -> int:
        with self._lock:
            dimension = self._load().get_sentence_embedding_dimension()
        if not isinstance(dimension, int):
            raise ModelMisconfigured(f"The model {self._model!r} does not say how wide its vectors are.")
        return dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode("encode_document", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encode("encode_query", texts)

    def _encode(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._lock:
            model = self._load()
            # Before version 5 there is one method for both kinds of text.
            encode = getattr(model, method, None) or model.encode
            rows = encode(list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        return np.ascontiguousarray(rows, dtype=np.float32)

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                library = cast("Any", importlib.import_module("sentence_transformers"))
            except ImportError as error:
                raise ModelMisconfigured(
                    "This embedder needs the extra 'sentence-transformers': "
                    "pip install 'quarry-search[sentence-transformers]'."
                ) from error
            try:
                self._loaded = library.SentenceTransformer(self._model)
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelMisconfigured(f"sentence-transformers cannot load the model {self._model!r}.") from error
        return self._loaded
