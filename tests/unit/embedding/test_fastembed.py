"""The adapter over the real library, with a model of a few kilobytes in its cache."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.embedding.fastembed import FastEmbedEmbedder
from engine.embedding.registry import load_embedder
from engine.errors import ModelMisconfigured
from tests import onnx_models

SAILS, OPENS = "The ferry sails at nine every day.", "The harbour opens at nine."


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    onnx_models.install(tmp_path / "cache", monkeypatch)


def test_texts_become_unit_rows_by_what_they_mean() -> None:
    embedder = load_embedder(f"fastembed:{onnx_models.EMBEDDER}")
    rows = embedder.embed_passages([SAILS, OPENS])
    (asked,) = embedder.embed_queries(["ferry sails"])
    assert (rows.shape, rows.dtype) == ((2, embedder.dimension), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ asked > rows[1] @ asked


def test_a_library_of_documents_is_searched_with_it(tmp_path: Path) -> None:
    documents = [{"id": "a", "text": SAILS}, {"id": "b", "text": OPENS}]
    with engine.open(tmp_path / "data", embedder=f"fastembed:{onnx_models.EMBEDDER}") as quarry:
        quarry.upsert("port", documents)
        assert quarry.retrieve("port", "harbour gates", mode="vector")[0].document_id == "b"


def test_a_model_that_is_not_in_the_list_is_named() -> None:
    with pytest.raises(ModelMisconfigured, match="'missing'"):
        load_embedder("fastembed:missing")


def test_a_model_that_cannot_be_fetched_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "empty"))
    # The library waits 39 seconds over its tries.
    monkeypatch.setattr("fastembed.common.model_management.time.sleep", lambda _: None)
    with pytest.raises(ModelMisconfigured, match=onnx_models.EMBEDDER):
        load_embedder(f"fastembed:{onnx_models.EMBEDDER}")


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ModelMisconfigured, match=r"quarry-search\[fastembed\]"):
        FastEmbedEmbedder("small").embed_queries(["abc"])
