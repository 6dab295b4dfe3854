"""Embedders of the fastembed library (ONNX, without torch), an optional extra. The only importer of it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from engine.errors import ModelMisconfigured
from engine.model.hits import Vectors


class FastEmbedEmbedder:
    """The model `model` of the library's list. Loaded at the first use, and fetched then if it is not in its cache.

    Raises:
        ModelMisconfigured: at the first use, when the extra is not installed or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._loaded: Any = None
        # The tokenizers of a model refuse to be borrowed twice.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"fastembed:{self._model}"

    @property
    def dimension(self) -> int:
        with self._lock:
            return int(self._load().embedding_size)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed("passage_embed", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed("query_embed", texts)

    def _embed(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._lock:
            rows = list(getattr(self._load(), method)(list(texts)))
        return np.ascontiguousarray(rows, dtype=np.float32)

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                library = cast("Any", importlib.import_module("fastembed"))
            except ImportError as error:
                raise ModelMisconfigured(
                    "This embedder needs the extra 'fastembed': pip install 'quarry-search[fastembed]'."
                ) from error
            try:
                self._loaded = library.TextEmbedding(self._model)
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelMisconfigured(f"fastembed cannot load the model {self._model!r}.") from error
        return self._loaded
