"""A schema that changes while documents are there."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

import engine
from engine import AttributeNotFilterable, InvalidRequest, ReindexRequired, SchemaConflict
from tests.embedders import HashingEmbedder

TEXT = {"type": "string", "is_searchable": True}
ON = {"type": "string", "is_filterable": True}
OFF = {"type": "string", "is_filterable": False}


@pytest.fixture
def quarry(tmp_path: Path) -> Generator[engine.Engine]:
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as opened:
        yield opened


def found(quarry: engine.Engine, text: str, **filters: object) -> set[str]:
    return {h.document_id for h in quarry.retrieve("n", text, k=50, filters=filters or None, mode="lexical")}


def test_an_attribute_that_becomes_filterable_finds_the_documents_that_were_there(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "colour": "red"}, {"id": "b", "body": "ferry"}])
    with pytest.raises(AttributeNotFilterable):
        found(quarry, "ferry", colour="red")
    assert quarry.upsert("n", [], {"colour": ON}) == 0
    assert found(quarry, "ferry", colour="red") == {"a"}
    assert found(quarry, "ferry", colour=None) == {"b"}


def test_a_flag_that_comes_back_misses_nothing_that_came_meanwhile(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "colour": "red"}], {"colour": ON})
    quarry.upsert("n", [], {"colour": OFF})
    quarry.upsert("n", [{"id": "a", "body": "ferry", "colour": "blue"}, {"id": "b", "body": "ferry", "colour": "red"}])
    quarry.upsert("n", [], {"colour": ON})
    assert found(quarry, "ferry", colour="red") == {"b"}
    assert found(quarry, "ferry", colour="blue") == {"a"}


def test_an_inferred_int_widens_to_float_under_a_filter(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "size": 2}])
    quarry.upsert("n", [], {"size": {"is_filterable": True}})
    assert found(quarry, "ferry", size={"$gt": 1}) == {"a"}
    quarry.upsert("n", [{"id": "b", "body": "ferry", "size": 2.5}])
    assert found(quarry, "ferry", size={"$gte": 2.25}) == {"b"}
    assert found(quarry, "ferry", size=2) == {"a"}


def test_marking_one_attribute_searchable_leaves_the_others_in_the_index(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "note": "lantern"}])
    quarry.upsert("n", [], {"body": TEXT})
    quarry.upsert("n", [{"id": "b", "body": "ferry", "note": "mizzen"}])
    assert (found(quarry, "lantern"), found(quarry, "mizzen")) == ({"a"}, {"b"})
    assert quarry.check() == []


def test_an_attribute_that_is_switched_off_leaves_the_index(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "note": "lantern"}])
    assert found(quarry, "lantern") == {"a"}
    quarry.upsert("n", [], {"body": TEXT, "note": {"is_searchable": False}})
    assert {h.attribute for h in quarry.retrieve("n", "ferry lantern", k=10)} == {"body"}
    assert quarry.check() == []


def test_a_root_can_always_be_filtered_also_where_no_document_has_one(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry"}])
    assert found(quarry, "ferry", root_document_id="r") == set()
    assert found(quarry, "ferry", root_document_id=None) == {"a"}
    quarry.upsert("n", [{"id": "b", "body": "ferry", "root_document_id": "r"}])
    assert found(quarry, "ferry", root_document_id="r") == {"b"}
    assert found(quarry, "ferry", id="b") == {"b"}


def test_a_refused_upload_leaves_no_trace(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry", "size": "small"}])
    before = quarry.namespace("n")
    with pytest.raises(SchemaConflict):
        quarry.upsert("n", [{"id": "b", "body": "storm"}], {"size": {"type": "int"}})
    assert quarry.namespace("n") == before
    assert found(quarry, "storm") == set()


def test_an_empty_upload_needs_a_namespace(quarry: engine.Engine) -> None:
    with pytest.raises(InvalidRequest):
        quarry.upsert("n", [])
    assert list(quarry.namespaces()) == []


def test_another_embedder_asks_for_a_reindex_and_never_mixes_vectors(tmp_path: Path) -> None:
    class Other(HashingEmbedder):
        name = "hashing-other"

    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "ferry"}])
    with engine.open(tmp_path / "data", embedder=Other(), agent="offline") as quarry:
        with pytest.raises(ReindexRequired):
            quarry.upsert("n", [{"id": "b", "body": "storm"}])
        with pytest.raises(ReindexRequired):
            quarry.retrieve("n", "ferry")
        assert quarry.reindex("n") == 1
        assert [h.document_id for h in quarry.retrieve("n", "ferry")] == ["a"]


def test_updated_at_moves_with_writes_that_change_something(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry"}])
    first = quarry.namespace("n").updated_at
    quarry.delete("n", document_ids=["nobody"])
    assert quarry.namespace("n").updated_at == first
    quarry.delete("n", document_ids=["a"])
    assert quarry.namespace("n").updated_at > first


def test_a_dropped_namespace_is_gone_and_its_number_is_not_used_again(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "body": "ferry"}])
    number = quarry.namespace("n").id
    quarry.drop("n")
    quarry.upsert("n", [{"id": "b", "body": "storm"}])
    assert quarry.namespace("n").id > number
    assert found(quarry, "ferry") == set()
