"""Embedders behind an HTTP interface in OpenAI's form, which many servers speak.

OpenAI itself, or a server of one's own (Ollama, vLLM, llama.cpp, text-embeddings-inference) at another address.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from engine.errors import ModelMisconfigured, ModelOutputInvalid, ModelUnavailable, QuarryError
from engine.extras import extra_library
from engine.model.hits import Vectors

DEFAULT_URL = "https://api.openai.com/v1"

TEXTS_A_CALL = 128
"""Passages sent at once. The provider takes 2,048; small servers answer late when they get as many."""

LONGEST_TEXT = 20_000
"""Characters sent of one text: passages are far shorter, and queries beyond it exceed the models' 8,192 tokens."""

_TIMEOUT_S = 60.0
_RETRIES = 3


class OpenAIEmbedder:
    """The model `model` of the server at `url`.

    The width of the vectors is learned by one call. Blank texts, which the provider refuses, are rows of zeros without
    being sent; `CheckedEmbedder` makes unit rows of them.

    Args:
        url: up to and with ``/v1``; None for OpenAI's.
        key: None for servers that ask for none.

    Raises:
        ModelMisconfigured: the extra is not installed; the key, the model's name or the address is wrong.
        ModelUnavailable: the server does not answer or is overloaded, after retries.
        ModelOutputInvalid: its answer holds no vectors.
    """

    def __init__(self, model: str, *, url: str | None = None, key: str | None = None) -> None:
        self._model = model
        self._url = url or DEFAULT_URL
        self._key = key
        # What errors show: an address may hold a name and a password.
        self._shown = urlsplit(self._url).hostname or "an address without a host"
        self._client: Any = None
        self._dimension: int | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = int(self._asked(["dimension"]).shape[1])
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        filled = [number for number, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), TEXTS_A_CALL):
            numbers = filled[start : start + TEXTS_A_CALL]
            found = self._asked([texts[number][:LONGEST_TEXT] for number in numbers])
            if found.shape[1] != rows.shape[1]:
                raise ModelOutputInvalid(f"The model {self._model!r} changed the width of its vectors.")
            rows[numbers] = found
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def _asked(self, texts: list[str]) -> Vectors:
        library, client = self._connected()
        try:
            # Asked for plainly: not every server knows the packed form that the client would choose.
            answer = client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except library.OpenAIError as error:
            raise self._translated(library, error) from error
        try:
            ordered = sorted(answer.data, key=lambda entry: entry.index)
            rows = np.array([entry.embedding for entry in ordered], dtype=np.float32)
        except (TypeError, ValueError, AttributeError) as error:
            raise ModelOutputInvalid(f"The server of {self._model!r} answered without vectors.") from error
        if rows.ndim != 2 or len(rows) != len(texts):
            raise ModelOutputInvalid(
                f"The server of {self._model!r} answered {len(texts)} texts with {len(rows)} rows."
            )
        return rows

    def _connected(self) -> tuple[Any, Any]:
        with self._lock:
            library = extra_library("openai", "openai")
            if self._client is None:
                # The client insists on a key, also where the server asks for none.
                self._client = library.OpenAI(
                    api_key=self._key or "none", base_url=self._url, timeout=_TIMEOUT_S, max_retries=_RETRIES
                )
            return library, self._client

    def _translated(self, library: Any, error: Exception) -> QuarryError:
        """Ours for one of the client's; its text may hold what was sent, so none of it is passed on."""
        status = getattr(error, "status_code", None)
        if isinstance(error, library.APIConnectionError) or status in (408, 409, 429) or (status or 0) >= 500:
            return ModelUnavailable(f"The embedding server at {self._shown} does not answer.")
        if status in (401, 403):
            return ModelMisconfigured(f"The embedding server at {self._shown} refuses the key (QUARRY_EMBEDDER_KEY).")
        if status is not None:
            return ModelMisconfigured(
                f"The embedding server at {self._shown} refuses the model {self._model!r} or its texts ({status})."
            )
        return ModelOutputInvalid(f"The embedding server at {self._shown} gave no answer that can be read.")
