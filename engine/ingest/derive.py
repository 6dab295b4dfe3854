"""Checked documents to what a backend stores: passages, and a vector for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from engine.backend.protocol import DocumentWrite
from engine.embedding.protocol import Embedder
from engine.model.checking import CheckedDocument
from engine.model.document import PassageDraft
from engine.model.hits import Vectors
from engine.settings import PassageSettings
from engine.text.passages import passages

EMBEDDED_AT_ONCE = 1_024
"""Passages. Their texts with headers, and what an embedder makes of them on the way, are in memory for so many only."""


def derive(
    documents: list[CheckedDocument],
    searchable: Sequence[str],
    embedder: Embedder,
    settings: PassageSettings,
) -> tuple[list[DocumentWrite], Vectors]:
    """Cut and embed `documents`, and empty the list: what was cut need not stay in memory beside its passages.

    Returns:
        One write a document, and the vectors of all passages in order, shape ``(passages, dimension)``.
    """
    writes: list[DocumentWrite] = []
    documents.reverse()
    while documents:
        writes.append(_cut(documents.pop(), searchable, settings))
    return writes, _embedded(writes, embedder)


def _cut(document: CheckedDocument, searchable: Sequence[str], settings: PassageSettings) -> DocumentWrite:
    return DocumentWrite(
        id=document.id,
        root_id=document.root_id,
        body=document.body,
        values=document.values,
        passages=passages(document.document, searchable, settings),
    )


def _embedded(writes: Sequence[DocumentWrite], embedder: Embedder) -> Vectors:
    vectors = np.empty((sum(len(write.passages) for write in writes), embedder.dimension), np.float32)
    drafts = (draft for write in writes for draft in write.passages)
    at = 0
    while texts := [indexed_text(draft) for draft in islice(drafts, EMBEDDED_AT_ONCE)]:
        vectors[at : at + len(texts)] = embedder.embed_passages(texts)
        at += len(texts)
    return vectors


def indexed_text(draft: PassageDraft) -> str:
    """What is embedded for a passage: its header in front, so that a pronoun-heavy paragraph keeps its subject."""
    return f"{draft.header}\n{draft.text}" if draft.header else draft.text
