"""Documents to passages and vectors, without holding more than is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.ingest import derive as deriving
from engine.ingest.derive import derive, indexed_text
from engine.model.checking import plan_upload
from engine.model.hits import Vectors
from engine.model.schema import Schema
from engine.settings import PassageSettings
from tests.embedders import HashingEmbedder


def checked(documents: Sequence[dict[str, Any]]) -> tuple[list[str], list[Any]]:
    schema, found = plan_upload(Schema(), {}, documents)
    return list(schema.searchable()), found


def test_vectors_made_in_pieces_are_those_of_all_texts_at_once() -> None:
    embedder = HashingEmbedder()
    asked: list[int] = []

    class Counting(HashingEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            asked.append(len(texts))
            return super().embed_passages(texts)

    documents = [{"id": str(n), "title": f"Title {n}", "body": f"Number {n}."} for n in range(1_300)]
    searchable, found = checked(documents)
    writes, vectors = derive(found, searchable, Counting(), PassageSettings())
    texts = [indexed_text(draft) for write in writes for draft in write.passages]
    assert np.array_equal(vectors, embedder.embed_passages(texts))
    assert len(asked) > 1
    assert max(asked) == deriving.EMBEDDED_AT_ONCE
    assert [write.id for write in writes] == [document["id"] for document in documents]


def test_what_was_cut_is_let_go_of() -> None:
    searchable, found = checked([{"id": "a", "body": "One."}, {"id": "b", "body": "Two."}])
    writes, _ = derive(found, searchable, HashingEmbedder(), PassageSettings())
    assert (len(writes), found) == (2, [])


def test_documents_without_passages_have_no_vectors() -> None:
    searchable, found = checked([{"id": "a", "n": 1}])
    writes, vectors = derive(found, searchable, HashingEmbedder(), PassageSettings())
    assert (len(writes), vectors.shape, vectors.dtype) == (1, (0, HashingEmbedder.dimension), np.float32)


def test_an_upload_holds_no_document_any_more_when_its_passages_are_embedded(tmp_path: Path) -> None:
    document = {"id": "a", "body": "The ferry sails at nine."}
    held: list[int] = []

    class Watching(HashingEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            held.append(sys.getrefcount(document))
            return super().embed_passages(texts)

    def given_away() -> Iterator[dict[str, Any]]:
        yield document

    alone = sys.getrefcount(document)
    with engine.open(tmp_path / "data", embedder=Watching(), agent="offline") as quarry:
        quarry.upsert("n", given_away())
    assert held == [alone]
