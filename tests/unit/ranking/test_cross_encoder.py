"""A cross-encoder over the real library, with a model of a few kilobytes in its cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import engine
from engine.errors import InvalidRequest, ModelMisconfigured
from tests import onnx_models

RERANKER = f"fastembed:{onnx_models.CROSS_ENCODER}"
DOCUMENTS = [
    {"id": "short", "text": "Ferry tickets."},
    {"id": "long", "text": "Tickets: the ferry sails at nine every day, gates close at nine, the bus is cancelled."},
    {"id": "other", "text": "The harbour opens."},
]
QUESTION = "At nine the ferry sails: tickets?"


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    onnx_models.install(tmp_path / "cache", monkeypatch)


@pytest.mark.parametrize("mode", ["hybrid", "planned"])
def test_the_passage_that_shares_most_words_comes_first(tmp_path: Path, mode: str) -> None:
    documents = [*DOCUMENTS, *({"id": f"n{at}", "text": f"Harbour gates {at}."} for at in range(60))]
    with engine.open(tmp_path / "data", reranker=RERANKER) as quarry:
        quarry.upsert("port", documents)
        hits = quarry.retrieve("port", QUESTION, k=5, mode=mode)
    assert hits[0].document_id == "long"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_only_the_order_changes(tmp_path: Path) -> None:
    with engine.open(tmp_path / "data") as quarry:
        quarry.upsert("port", DOCUMENTS)
        plain = quarry.retrieve("port", "harbour opens")
    with engine.open(tmp_path / "data", reranker=RERANKER) as quarry:
        read = quarry.retrieve("port", "harbour opens")
    assert [hit.score for hit in plain] == [hit.score for hit in read]
    assert {hit.document_id for hit in plain} == {hit.document_id for hit in read}


@pytest.mark.parametrize("name", ["cohere:large", "fastembed:", "fastembed"])
def test_an_unknown_reranker_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="reranker"):
        engine.open(tmp_path / "data", reranker=name)


def test_a_model_that_is_not_in_the_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMisconfigured, match="'missing'"):
        engine.open(tmp_path / "data", reranker="fastembed:missing")


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(ModelMisconfigured, match=r"quarry-search\[fastembed\]"):
        engine.open(tmp_path / "data", reranker=RERANKER)
