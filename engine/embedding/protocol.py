"""What turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from engine.model.hits import Vectors


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to unit rows. Deterministic and safe to call from several threads.

    A text without content (empty, only white space) gets a finite unit row too, never NaN.
    """

    @property
    def name(self) -> str:
        """Stored with a namespace; two embedders with one name must agree on every text."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Rows of unit length, shape ``(len(texts), dimension)``, float32."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As `embed_passages`, for questions."""
        ...
