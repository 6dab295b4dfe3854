"""An upload as a whole: what is kept, what is refused and where."""

from __future__ import annotations

import json
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from engine.errors import InvalidDocument, SchemaError
from engine.model.checking import MAX_DOCUMENT_BYTES, plan_upload
from engine.model.schema import Attribute, AttributeType, Schema, decode_schema

A = AttributeType
SCHEMA = Schema(
    {
        "year": Attribute(A.INT, is_filterable=True),
        "at": Attribute(A.DATETIME, is_filterable=True),
        "tags": Attribute(A.STRINGS, is_filterable=True),
        "body": Attribute(A.STRING, is_searchable=True),
        "meta": Attribute(A.JSON),
        "guess": Attribute(A.STRING, inferred=True),
    }
)


def test_values_are_typed_for_filterable_attributes_only() -> None:
    document = {"id": "a", "year": 5, "at": "1970-01-01T00:00:01Z", "tags": ["x"], "body": "text", "meta": {"k": 1}}
    _, [checked] = plan_upload(SCHEMA, None, [document])
    assert checked.values == {"year": 5, "at": 1_000_000, "tags": ["x"]}
    assert checked.document is document
    assert checked.root_id is None


def test_the_body_is_the_document_as_it_was_sent() -> None:
    sent = '{"z":1.0,"id":"a","b":[1,2.50,-0.0],"t":"é\\n","n":null,"o":{"y":[],"x":{}}}'
    _, [checked] = plan_upload(Schema(), None, [json.loads(sent)])
    assert json.dumps(json.loads(checked.body)) == json.dumps(json.loads(sent))


def test_null_and_missing_have_no_value_and_an_empty_list_has() -> None:
    _, [checked] = plan_upload(SCHEMA, None, [{"id": "a", "year": None, "tags": []}])
    assert checked.values == {"tags": []}


def test_the_last_of_an_id_wins() -> None:
    _, checked = plan_upload(Schema(), None, [{"id": "a", "x": 1}, {"id": "b"}, {"id": "a", "x": 2}])
    assert [(each.id, each.document.get("x")) for each in checked] == [("a", 2), ("b", None)]


def test_a_document_that_is_replaced_is_checked_all_the_same() -> None:
    with pytest.raises(InvalidDocument):
        plan_upload(SCHEMA, None, [{"id": "a", "year": "x"}, {"id": "a"}])


def test_the_root_is_noted_and_filterable() -> None:
    schema, [checked] = plan_upload(Schema(), None, [{"id": "a", "root_document_id": "r"}])
    assert checked.root_id == "r"
    assert checked.values == {"root_document_id": "r"}
    assert schema.filterable() == ("root_document_id",)


def test_the_patch_applies_before_the_documents_are_read() -> None:
    patch = decode_schema({"when": {"type": "datetime", "is_filterable": True}})
    schema, [checked] = plan_upload(Schema(), patch, [{"id": "a", "when": "1970-01-02", "n": 1}])
    assert schema.attributes == {
        "when": Attribute(A.DATETIME, is_filterable=True),
        "n": Attribute(A.INT, inferred=True),
    }
    assert checked.values == {"when": 86_400_000_000}


def test_an_int_before_a_float_is_a_float_value() -> None:
    current = Schema({"n": Attribute(A.INT, is_filterable=True, inferred=True)})
    _, checked = plan_upload(current, None, [{"id": "a", "n": 1}, {"id": "b", "n": 1.5}])
    assert [type(each.values["n"]) for each in checked] == [float, float]


def test_no_documents_change_the_schema_alone() -> None:
    assert plan_upload(Schema(), decode_schema({"n": {"type": "int"}}), []) == (Schema({"n": Attribute(A.INT)}), [])


@pytest.mark.parametrize("wrap", [OrderedDict, MappingProxyType])
def test_any_mapping_is_a_document(wrap: Any) -> None:
    _, [checked] = plan_upload(Schema(), None, [wrap({"id": "a", "n": 1})])
    assert checked.body == b'{"id":"a","n":1}'


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ("a", "documents[10]"),
        (["id"], "documents[10]"),
        (None, "documents[10]"),
        ({}, "documents[10].id"),
        ({"id": 5}, "documents[10].id"),
        ({"id": ""}, "documents[10].id"),
        ({"id": "x" * 65}, "documents[10].id"),
        ({"id": "a\n"}, "documents[10].id"),
        ({"id": "\ud800"}, "documents[10].id"),
        ({"id": "a", "year": "2020"}, "documents[10].year"),
        ({"id": "a", "year": []}, "documents[10].year"),
        ({"id": "a", "year": 2**63}, "documents[10].year"),
        ({"id": "a", "at": "soon"}, "documents[10].at"),
        ({"id": "a", "tags": ["x", 1]}, "documents[10].tags[1]"),
        ({"id": "a", "tags": [None]}, "documents[10].tags[0]"),
        ({"id": "a", "guess": 1}, "documents[10].guess"),
        ({"id": "a", "new": 2**70}, "documents[10].new"),
        ({"id": "a", "new": float("nan")}, "documents[10].new"),
        ({"id": "a", "new": "\udfff"}, "documents[10].new"),
        ({"id": "a", "new": ["\udfff"]}, "documents[10].new"),
        ({"id": "a", "\ud800": 1}, "documents[10].?"),
        ({"id": "a", "$set": 1}, "documents[10].$set"),
        ({"id": "a", 5: 1}, "documents[10].5"),
        ({"id": "a", "new": (1, 2)}, "documents[10].new"),
        ({"id": "a", "new": b"x"}, "documents[10].new"),
        ({"id": "a", "meta": {"a": [{"b": float("inf")}]}}, "documents[10].meta.a[0].b"),
        ({"id": "a", "meta": {"a": 2**64}}, "documents[10].meta.a"),
        ({"id": "a", "meta": {"a": {"\ud800": 1}}}, "documents[10].meta"),
        ({"id": "a", "meta": nested(65)}, "documents[10].meta" + "[0]" * 64),
        ({"id": "a", "meta": nested(100_000)}, "documents[10].meta" + "[0]" * 64),
        ({"id": "a", "root_document_id": 5}, "documents[10].root_document_id"),
        ({"id": "a", "body": "x" * MAX_DOCUMENT_BYTES}, "documents[10]"),
    ],
    ids=range(32),
)
def test_refused(document: Any, path: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        plan_upload(SCHEMA, None, [{"id": "first"}, document], start=9)
    assert refused.value.path == path
    assert refused.value.details[0].path == path
    assert len(refused.value.message) < 600


def test_a_misfit_says_what_was_expected_and_found_but_not_the_value() -> None:
    with pytest.raises(InvalidDocument) as refused:
        plan_upload(SCHEMA, None, [{"id": "a", "year": "secret"}])
    assert refused.value.message == "documents[0].year: expected int, got string."


def test_an_empty_list_is_no_value_where_the_type_was_only_inferred() -> None:
    _, [checked] = plan_upload(SCHEMA, None, [{"id": "a", "guess": []}])
    assert checked.values == {}


def test_a_conflict_of_the_patch_comes_first() -> None:
    with pytest.raises(SchemaError):
        plan_upload(SCHEMA, decode_schema({"year": {"type": "string"}}), [{"id": 5}])
