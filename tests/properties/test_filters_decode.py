"""Whatever JSON arrives as a filter, the outcome is a filter or one of our errors."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.errors import FilterError
from engine.filters.check import check_filter, parse_filter
from engine.filters.decode import decode_filter
from engine.model.schema import Schema
from tests.strategies import EVERYTHING, FILTERABLE, filters, json_values

OPERATORS = [
    "$and",
    "$or",
    "$nor",
    "$not",
    "$eq",
    "$in",
    "$gt",
    "$contains",
    "$contains_all",
    "$glob",
    "$iglob",
    "$exists",
]
KEYS = [*FILTERABLE, "id", "hidden", "blob", "", "$foo", "$", "\ud800", *OPERATORS]

near_filters = st.recursive(
    json_values(finite=False, max_leaves=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=10,
)


def fault_of(raw: Any, schema: Schema = EVERYTHING) -> FilterError | None:
    try:
        parse_filter(raw, schema)
    except FilterError as fault:
        return fault
    return None


@given(raw=near_filters)
def test_anything_is_a_filter_or_a_filter_error_that_can_be_written(raw: Any) -> None:
    fault = fault_of(raw)
    assert fault is None or (fault.path.startswith("filters") and (fault.message + fault.path).encode())


@given(raw=filters())
def test_filters_of_the_grammar_are_accepted(raw: dict[str, Any]) -> None:
    parse_filter(raw, EVERYTHING)


@given(raw=filters())
def test_the_same_filter_twice_is_equal_and_hashes_alike(raw: dict[str, Any]) -> None:
    first, second = parse_filter(raw, EVERYTHING), parse_filter(raw, EVERYTHING)
    assert first == second
    assert hash(first) == hash(second)


@given(raw=filters())
def test_only_an_empty_filter_is_no_filter(raw: dict[str, Any]) -> None:
    assert (decode_filter(raw) is None) == (raw == {})


@given(raw=filters())
def test_without_a_schema_only_id_and_the_root_can_be_named(raw: dict[str, Any]) -> None:
    fault = fault_of(raw, Schema())
    named = [name for name, _ in check_filter(tree, EVERYTHING).types] if (tree := decode_filter(raw)) else []
    assert (fault is None) == (set(named) <= {"id", "root_document_id"})
    assert fault is None or fault.code == "unknown_attribute"
