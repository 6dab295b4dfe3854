"""The adapter against a stand-in for the library, whose bounds do not fit beside those of the test tools.

Where the extra is installed, the stand-in still takes its place: no test downloads a model.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from engine.embedding.fastembed import FastEmbedEmbedder
from engine.embedding.registry import load_embedder
from engine.errors import ModelMisconfigured


class TextEmbedding:
    """Embeds a text as its length and what it was taken for."""

    embedding_size = 2

    def __init__(self, name: str) -> None:
        if name == "missing":
            raise ValueError("Model missing is not supported")

    def passage_embed(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        return (np.array([len(text), 1.0]) for text in texts)

    def query_embed(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        return (np.array([len(text), 2.0]) for text in texts)


@pytest.fixture
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = types.ModuleType("fastembed")
    stand_in.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", stand_in)


@pytest.mark.usefixtures("_library")
def test_passages_and_queries_are_embedded_each_in_its_way() -> None:
    embedder = FastEmbedEmbedder("small")
    assert (embedder.name, embedder.dimension) == ("fastembed:small", 2)
    assert embedder.embed_passages(["abc"]).tolist() == [[3.0, 1.0]]
    assert embedder.embed_queries(["abc", "d"]).tolist() == [[3.0, 2.0], [1.0, 2.0]]
    assert np.allclose(np.linalg.norm(load_embedder("fastembed:small").embed_passages(["abc"]), axis=1), 1)


@pytest.mark.usefixtures("_library")
def test_a_model_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(ModelMisconfigured, match="'missing'"):
        load_embedder("fastembed:missing")


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ModelMisconfigured, match=r"quarry-search\[fastembed\]"):
        load_embedder("fastembed:small")
