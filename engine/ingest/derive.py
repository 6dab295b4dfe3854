"""Checked documents to what a backend stores: passages, and a vector for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.backend.protocol import DocumentWrite
from engine.embedding.protocol import Embedder
from engine.model.checking import CheckedDocument
from engine.model.document import PassageDraft
from engine.model.hits import Vectors
from engine.settings import PassageSettings
from engine.text.passages import passages


def derive(
    documents: Sequence[CheckedDocument],
    searchable: Sequence[str],
    embedder: Embedder,
    settings: PassageSettings,
) -> tuple[list[DocumentWrite], Vectors]:
    """Cut and embed `documents`.

    Returns:
        One write a document, and the vectors of all passages in order, shape ``(passages, dimension)``.
    """
    writes = [
        DocumentWrite(
            id=document.id,
            root_id=document.root_id,
            body=document.body,
            values=document.values,
            passages=passages(document.document, searchable, settings),
        )
        for document in documents
    ]
    texts = [indexed_text(draft) for write in writes for draft in write.passages]
    if not texts:
        return writes, np.empty((0, embedder.dimension), np.float32)
    return writes, embedder.embed_passages(texts)


def indexed_text(draft: PassageDraft) -> str:
    """What is embedded for a passage: its header in front, so that a pronoun-heavy paragraph keeps its subject."""
    return f"{draft.header}\n{draft.text}" if draft.header else draft.text
