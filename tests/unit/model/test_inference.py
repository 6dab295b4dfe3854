"""Types read off values."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InvalidDocument
from engine.model.inference import infer_schema, infer_type
from engine.model.schema import Attribute, AttributeType, Schema

A = AttributeType


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("", A.STRING),
        ("2024-01-01T00:00:00Z", A.STRING),
        ("00000000-0000-4000-8000-000000000000", A.STRING),
        (0, A.INT),
        (True, A.BOOL),
        (1.0, A.FLOAT),
        (["a"], A.STRINGS),
        ([1, 2], A.INTS),
        ([1, 2.5], A.FLOATS),
        ([True, False], A.BOOLS),
        ([True, 1], A.JSON),
        (["a", None], A.JSON),
        ([None], A.JSON),
        ([[]], A.JSON),
        ([{}], A.JSON),
        ({}, A.JSON),
        (None, None),
        ([], None),
    ],
)
def test_the_type_of_a_value(value: Any, kind: AttributeType | None) -> None:
    assert infer_type(value) is kind


def inferred(*values: Any, current: Schema | None = None) -> AttributeType | None:
    found = infer_schema(current or Schema(), [{"x": value} for value in values]).attributes.get("x")
    return found.type if found else None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, [], "a"], A.STRING),
        ([[], [1]], A.INTS),
        ([1, 2.5, 3], A.FLOAT),
        ([2.5, 1], A.FLOAT),
        ([[1], [2.5]], A.FLOATS),
        ([1, "a"], A.INT),
        ([1, [2.5]], A.INT),
        ([{"a": 1}, "a"], A.JSON),
        ([None, []], None),
    ],
)
def test_the_first_value_decides_and_only_an_int_widens(values: list[Any], kind: AttributeType | None) -> None:
    assert inferred(*values) is kind


def test_flags_are_false_and_the_type_is_noted_as_inferred() -> None:
    assert infer_schema(Schema(), [{"x": 1}]).attributes == {"x": Attribute(A.INT, inferred=True)}


def test_widening_keeps_the_flags() -> None:
    current = Schema({"x": Attribute(A.INT, is_filterable=True, inferred=True)})
    after = infer_schema(current, [{"x": 1.5}]).attributes["x"]
    assert after == Attribute(A.FLOAT, is_filterable=True, inferred=True)


def test_a_declared_int_stays() -> None:
    assert inferred(1.5, current=Schema({"x": Attribute(A.INT)})) is A.INT


def test_the_root_is_a_filterable_string() -> None:
    schema = infer_schema(Schema(), [{"root_document_id": None}, {"root_document_id": "a"}])
    assert schema.attributes == {"root_document_id": Attribute(A.STRING, is_filterable=True)}


def test_nothing_new_gives_the_very_same_schema() -> None:
    current = Schema({"x": Attribute(A.INT, inferred=True)})
    assert infer_schema(current, [{"id": "a", "x": 1, "y": None}]) is current


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"": 1}, "documents[7]."),
        ({"$x": None}, "documents[7].$x"),
        ({"x" * 129: 1}, "documents[7]." + "x" * 128),
        ({"\udfff": 1}, "documents[7].?"),
        ({5: 1}, "documents[7].5"),
    ],
)
def test_bad_names_are_refused(document: Any, path: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        infer_schema(Schema(), [{"id": "fine"}, document], start=6)
    assert refused.value.path == path


def test_at_most_256_attributes_are_inferred() -> None:
    full = {f"a{n}": n for n in range(256)}
    assert len(infer_schema(Schema(), [full]).attributes) == 256
    with pytest.raises(InvalidDocument) as refused:
        infer_schema(Schema(), [full, {"a0": 1, "more": 1}])
    assert refused.value.path == "documents[1].more"


def test_attributes_without_a_value_do_not_count() -> None:
    assert infer_schema(Schema(), [{f"a{n}": None for n in range(300)}]).attributes == {}
