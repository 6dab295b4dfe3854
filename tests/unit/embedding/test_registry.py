"""Names, foreign embedders, and what is refused of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from engine.embedding.cached import CachedEmbedder
from engine.embedding.checked import CheckedEmbedder
from engine.embedding.protocol import Embedder
from engine.embedding.registry import load_embedder
from engine.errors import InvalidRequest, ModelMisconfigured, ModelOutputInvalid


class Returning:
    """A foreign embedder that returns what it was made with, and counts its calls."""

    def __init__(self, rows: Any, *, name: Any = "mine", dimension: Any = 3) -> None:
        self.rows = rows
        self.name = name
        self.dimension = dimension
        self.asked: list[list[str]] = []

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        return self.rows(texts) if callable(self.rows) else self.rows

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self.embed_passages(texts)


def by_length(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 2.0] for text in texts]


def test_the_default_is_wordllama() -> None:
    embedder = load_embedder()
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension) == ("wordllama-256-whitened", 256)
    assert load_embedder("wordllama-mean").name == "wordllama-256-mean"


@pytest.mark.parametrize(
    "spec", ["", "nonsense", "wordllama:x", "sentence-transformers", "sentence-transformers: ", ":x"]
)
def test_an_unknown_name_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InvalidRequest, match="wordllama") as caught:
        load_embedder(spec)
    assert caught.value.path == "embedder"


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="the extra is installed")
def test_a_missing_extra_is_named() -> None:
    with pytest.raises(ModelMisconfigured, match=r"quarry-search\[sentence-transformers\]"):
        load_embedder("sentence-transformers:all-MiniLM-L6-v2")


@pytest.mark.parametrize("thing", [None, 3, object(), np.zeros(3)])
def test_an_object_without_the_protocol_is_refused(thing: Any) -> None:
    with pytest.raises(InvalidRequest):
        load_embedder(thing)


@pytest.mark.parametrize("bad", [{"name": ""}, {"name": 3}, {"name": "a\nb"}, {"dimension": 0}, {"dimension": "3"}])
def test_a_bad_name_or_dimension_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        load_embedder(Returning(by_length, **bad))


def test_a_foreign_embedder_is_brought_to_unit_rows() -> None:
    embedder = load_embedder(Returning(by_length))
    rows = embedder.embed_passages(["abc", ""])
    assert (rows.dtype, rows.shape, rows.flags.c_contiguous) == (np.float32, (2, 3), True)
    np.testing.assert_allclose(rows[0], np.array([3, 1, 2]) / np.sqrt(14), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-11, 1e-3, 1e150, 1e300])
def test_very_small_and_very_large_rows_keep_their_direction(scale: float) -> None:
    rows = CheckedEmbedder(Returning([[3 * scale, 0.0, 4 * scale]])).embed_queries(["x"])
    np.testing.assert_allclose(rows, [[0.6, 0.0, 0.8]], atol=1e-6)


def test_a_row_of_zeros_becomes_a_unit_row() -> None:
    rows = CheckedEmbedder(Returning([[0.0, 0.0, 0.0]])).embed_passages([""])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        [[float("nan"), 0.0, 1.0]],
        [[float("inf"), 0.0, 1.0]],
        [[1.0, 2.0]],
        [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]],
        [],
        [["a", "b", "c"]],
        [[1.0, 2.0], [3.0]],
        None,
        [[[1.0, 2.0, 3.0]]],
    ],
)
def test_bad_rows_are_refused_by_name(rows: Any) -> None:
    with pytest.raises(ModelOutputInvalid, match="mine"):
        CheckedEmbedder(Returning(rows)).embed_passages(["x"])


def test_no_texts_do_not_reach_a_foreign_embedder() -> None:
    inner = Returning(by_length)
    assert CheckedEmbedder(inner).embed_passages([]).shape == (0, 3)
    assert inner.asked == []


def test_queries_are_embedded_once_while_remembered() -> None:
    inner = Returning(by_length)
    cached = CachedEmbedder(CheckedEmbedder(inner), capacity=2)
    first = cached.embed_queries(["a", "bb", "a"])
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(cached.embed_queries(["bb"])[0], first[1])
    assert inner.asked == [["a", "bb"]]
    cached.embed_queries(["ccc"])  # the least recently used, "a", goes
    cached.embed_queries(["bb"])
    assert inner.asked == [["a", "bb"], ["ccc"]]
    cached.embed_queries(["a"])
    assert inner.asked[-1] == ["a"]


def test_more_queries_than_are_remembered_still_come_back() -> None:
    inner = Returning(by_length)
    cached = CachedEmbedder(CheckedEmbedder(inner), capacity=2)
    texts = [str(10**n) for n in range(6)]
    np.testing.assert_array_equal(cached.embed_queries(texts), CheckedEmbedder(inner).embed_queries(texts))


def test_what_a_caller_does_to_its_rows_does_not_reach_the_memory() -> None:
    cached = CachedEmbedder(CheckedEmbedder(Returning(by_length)))
    before = cached.embed_queries(["a"]).copy()
    cached.embed_queries(["a"])[:] = 7.0
    np.testing.assert_array_equal(cached.embed_queries(["a"]), before)


def test_passages_are_not_remembered() -> None:
    inner = Returning(by_length)
    cached = CachedEmbedder(CheckedEmbedder(inner))
    cached.embed_passages(["a"])
    cached.embed_passages(["a"])
    assert inner.asked == [["a"], ["a"]]


def test_a_memory_of_nothing_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="capacity"):
        CachedEmbedder(CheckedEmbedder(Returning(by_length)), capacity=0)
