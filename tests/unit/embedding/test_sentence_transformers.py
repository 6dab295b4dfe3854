"""The adapter against a stand-in for the library, which is an extra and too large for the tests.

Where the extra is installed, the stand-in still takes its place: no test downloads a model.
"""

from __future__ import annotations

import sys
import threading
import types
from typing import Any, ClassVar

import numpy as np
import pytest

from engine.embedding.registry import load_embedder
from engine.embedding.sentence_transformers import SentenceTransformersEmbedder
from engine.errors import ModelMisconfigured


class Model:
    """Encodes a text as its length and the kind of text it was taken for."""

    loaded: ClassVar[list[str]] = []
    inside = 0

    def __init__(self, name: str) -> None:
        if name == "missing":
            raise OSError("no such model")
        Model.loaded.append(name)
        self.dimension: int | None = None if name == "shapeless" else 3

    def get_sentence_embedding_dimension(self) -> int | None:
        return self.dimension

    def encode(self, texts: list[str], kind: float = 0.0, **options: Any) -> np.ndarray:
        assert options == {"normalize_embeddings": True, "convert_to_numpy": True, "show_progress_bar": False}
        Model.inside += 1
        assert Model.inside == 1, "two threads in the library at once"
        rows = np.array([[len(text), 1.0, kind] for text in texts])
        Model.inside -= 1
        return rows


class NewerModel(Model):
    def encode_document(self, texts: list[str], **options: Any) -> np.ndarray:
        return self.encode(texts, 1.0, **options)

    def encode_query(self, texts: list[str], **options: Any) -> np.ndarray:
        return self.encode(texts, 2.0, **options)


@pytest.fixture(params=[Model, NewerModel])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Model]:
    Model.loaded = []
    stand_in = types.ModuleType("sentence_transformers")
    stand_in.SentenceTransformer = request.param  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", stand_in)
    return request.param


def test_the_model_is_loaded_once_at_its_first_use(library: type[Model]) -> None:
    embedder = SentenceTransformersEmbedder("some/model")
    assert embedder.name == "sentence-transformers:some/model"
    assert Model.loaded == []
    assert embedder.dimension == 3
    embedder.embed_queries(["a"])
    embedder.embed_passages(["a"])
    assert Model.loaded == ["some/model"]


def test_questions_and_passages_are_told_apart_where_the_library_can(library: type[Model]) -> None:
    embedder = SentenceTransformersEmbedder("some/model")
    passage, question = embedder.embed_passages(["ab"])[0], embedder.embed_queries(["ab"])[0]
    assert passage.dtype == np.float32
    assert passage[:2].tolist() == question[:2].tolist() == [2.0, 1.0]
    assert (passage[2] != question[2]) == (library is NewerModel)


def test_the_registry_checks_and_scales_what_the_model_returns(library: type[Model]) -> None:
    embedder = load_embedder("sentence-transformers: some/model ")
    assert (embedder.name, embedder.dimension) == ("sentence-transformers:some/model", 3)
    np.testing.assert_allclose(np.linalg.norm(embedder.embed_passages(["a", "bcd"]), axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", ["missing", "shapeless"])
def test_a_model_that_cannot_be_used_is_named(library: type[Model], name: str) -> None:
    with pytest.raises(ModelMisconfigured, match=name):
        load_embedder(f"sentence-transformers:{name}")


def test_threads_take_turns_in_the_library(library: type[Model]) -> None:
    embedder = SentenceTransformersEmbedder("some/model")
    failures: list[BaseException] = []

    def embed() -> None:
        try:
            for _ in range(100):
                embedder.embed_queries(["a", "b"])
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
