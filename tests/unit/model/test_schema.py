"""The schema of a request: what is refused, and how it merges."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.errors import SchemaError
from engine.model.schema import (
    Attribute,
    AttributePatch,
    AttributeType,
    Schema,
    decode_schema,
    merge,
)

A = AttributeType


def merged(current: Schema, raw: dict[str, Any]) -> Schema:
    return merge(current, decode_schema(raw))


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ([], "schema"),
        ("x", "schema"),
        ({f"a{n}": {"type": "int"} for n in range(257)}, "schema"),
        ({"id": {"type": "string"}}, "schema.id"),
        ({"": {"type": "int"}}, "schema."),
        ({"x" * 129: {"type": "int"}}, "schema." + "x" * 128),
        ({"$and": {"type": "int"}}, "schema.$and"),
        ({"a\ud800": {"type": "int"}}, "schema.a?"),
        ({1: {"type": "int"}}, "schema.1"),
        ({"year": "int"}, "schema.year"),
        ({"year": None}, "schema.year"),
        ({"year": {"type": "integer"}}, "schema.year.type"),
        ({"year": {"type": ["int"]}}, "schema.year.type"),
        ({"year": {"type": "[]json"}}, "schema.year.type"),
        ({"year": {"type": "int", "filterable": True}}, "schema.year.filterable"),
        ({"year": {"type": "int", "is_filterable": "yes"}}, "schema.year.is_filterable"),
        ({"year": {"type": "int", "is_filterable": 1}}, "schema.year.is_filterable"),
        ({"year": {"type": "int", "is_searchable": True}}, "schema.year.is_searchable"),
        ({"year": {"type": "[]uuid", "is_searchable": True}}, "schema.year.is_searchable"),
        ({"blob": {"type": "json", "is_filterable": True}}, "schema.blob.is_filterable"),
        ({"year": {}}, "schema.year.type"),
        ({"root_document_id": {"type": "int"}}, "schema.root_document_id.type"),
    ],
    ids=range(22),
)
def test_refused(raw: Any, path: str) -> None:
    with pytest.raises(SchemaError) as refused:
        merged(Schema(), raw)
    assert (refused.value.code, refused.value.path) == ("invalid_schema", path)
    assert len(refused.value.message) < 500


@pytest.mark.parametrize("kind", list(AttributeType))
def test_every_type_is_accepted(kind: AttributeType) -> None:
    assert merged(Schema(), {"x": {"type": kind.value}}).attributes == {"x": Attribute(kind)}


def test_all_256_attributes_and_128_characters_are_allowed() -> None:
    schema = merged(Schema(), {f"{n:0128}": {"type": "int"} for n in range(256)})
    assert len(schema.attributes) == 256


def test_one_attribute_too_many_over_two_requests_is_refused() -> None:
    full = merged(Schema(), {f"a{n}": {"type": "int"} for n in range(256)})
    with pytest.raises(SchemaError, match="257"):
        merged(full, {"one more": {"type": "int"}})


def test_flags_given_replace_and_flags_omitted_stay() -> None:
    before = merged(Schema(), {"t": {"type": "string", "is_searchable": True, "is_filterable": True}})
    after = merged(before, {"t": {"type": "string", "is_filterable": False}})
    assert after.attributes["t"] == Attribute(A.STRING, is_searchable=True, is_filterable=False)


def test_null_is_as_if_omitted() -> None:
    before = merged(Schema(), {"t": {"type": "string", "is_searchable": True}})
    assert merged(before, {"t": {"type": None, "is_searchable": None, "is_filterable": None}}) == before


def test_the_type_may_be_left_out_where_the_attribute_exists() -> None:
    before = Schema({"n": Attribute(A.INT, inferred=True)})
    after = merged(before, {"n": {"is_filterable": True}})
    assert after.attributes["n"] == Attribute(A.INT, is_filterable=True, inferred=True)


def test_declaring_an_inferred_type_makes_it_final() -> None:
    before = Schema({"n": Attribute(A.INT, inferred=True)})
    assert merged(before, {"n": {"type": "int"}}).attributes["n"] == Attribute(A.INT)


@pytest.mark.parametrize(("old", "new"), [(A.INT, "float"), (A.INTS, "[]float")])
def test_an_inferred_int_widens_and_a_declared_one_does_not(old: AttributeType, new: str) -> None:
    assert merged(Schema({"n": Attribute(old, inferred=True)}), {"n": {"type": new}}).attributes["n"].type == new
    with pytest.raises(SchemaError) as refused:
        merged(Schema({"n": Attribute(old)}), {"n": {"type": new}})
    assert refused.value.code == "schema_conflict"


def test_a_conflict_names_the_attribute_and_both_types() -> None:
    with pytest.raises(SchemaError) as refused:
        merged(Schema({"when": Attribute(A.STRING, inferred=True)}), {"when": {"type": "datetime"}})
    assert (refused.value.code, refused.value.path) == ("schema_conflict", "schema.when.type")
    assert "'when'" in refused.value.message
    assert "string" in refused.value.message
    assert "datetime" in refused.value.message


@pytest.mark.parametrize("kind", [k for k in AttributeType if k not in (A.INT, A.FLOAT)])
def test_an_inferred_int_becomes_nothing_but_float(kind: AttributeType) -> None:
    with pytest.raises(SchemaError) as refused:
        merged(Schema({"n": Attribute(A.INT, inferred=True)}), {"n": {"type": kind.value}})
    assert refused.value.code == "schema_conflict"


def test_flags_are_checked_against_the_type_that_is_there() -> None:
    with pytest.raises(SchemaError) as refused:
        merged(Schema({"n": Attribute(A.INT)}), {"n": {"is_searchable": True}})
    assert refused.value.path == "schema.n.is_searchable"


def test_the_root_is_a_string_and_filterable_whatever_the_schema_says() -> None:
    schema = merged(Schema(), {"root_document_id": {"is_filterable": False}})
    assert schema.attributes["root_document_id"] == Attribute(A.STRING, is_filterable=True)
    assert schema.filterable() == ("root_document_id",)


def test_decoding_gives_patches() -> None:
    assert decode_schema({"n": {"type": "[]uint", "is_filterable": True}}) == {
        "n": AttributePatch(A.UINTS, None, is_filterable=True)
    }


def test_without_a_searchable_attribute_every_string_is_searched_but_the_root() -> None:
    schema = merged(
        Schema(), {"t": {"type": "string"}, "n": {"type": "int"}, "l": {"type": "[]string"}, "root_document_id": {}}
    )
    assert schema.searchable() == ("t", "l")


def test_the_first_flag_switches_no_other_attribute_off() -> None:
    schema = merged(Schema(), {"t": {"type": "string"}, "l": {"type": "[]string"}, "n": {"type": "int"}})
    flagged = merged(schema, {"l": {"is_searchable": True}, "new": {"type": "string"}})
    assert flagged.searchable() == ("t", "l")
    assert merged(flagged, {"t": {"is_searchable": False}}).searchable() == ("l",)
    assert merged(schema, {"l": {"is_searchable": True}, "t": {"is_searchable": False}}).searchable() == ("l",)


def test_definitions_show_what_is_in_effect_and_change_nothing_when_they_come_back() -> None:
    schema = merged(Schema(), {"t": {"type": "string"}, "n": {"type": "int", "is_filterable": True}})
    shown = msgspec.to_builtins(schema.definitions())
    assert shown == {
        "t": {"type": "string", "is_searchable": True, "is_filterable": False, "inferred": True},
        "n": {"type": "int", "is_searchable": False, "is_filterable": True},
    }
    again = merged(schema, shown)
    assert (again.searchable(), again.filterable()) == (schema.searchable(), schema.filterable())
    assert merged(again, msgspec.to_builtins(again.definitions())) == again


def test_a_schema_survives_json() -> None:
    schema = Schema({"n": Attribute(A.INTS, is_filterable=True, inferred=True), "json": Attribute(A.JSON)})
    assert msgspec.json.decode(msgspec.json.encode(schema), type=Schema) == schema
