"""Comparisons restated within a type mean what Python's exact comparison means."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.filters.numbers import Relation, restate
from engine.model.schema import AttributeType

RELATIONS: dict[Relation, Any] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
HELD = {
    AttributeType.INT: st.integers(-(2**63), 2**63 - 1),
    AttributeType.UINT: st.integers(0, 2**64 - 1),
    AttributeType.FLOAT: st.floats(allow_nan=False, allow_infinity=False),
}
edges = st.sampled_from([0, 2**53, 2**63, -(2**63), 2**64, 10**400, -(10**400)])
operands = (
    st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.tuples(edges, st.integers(-2, 2)).map(sum)
)


@given(
    kind=st.sampled_from(sorted(HELD)), relation=st.sampled_from(sorted(RELATIONS)), operand=operands, data=st.data()
)
def test_a_restated_comparison_has_the_outcome_of_the_original(
    kind: AttributeType, relation: Relation, operand: float, data: st.DataObject
) -> None:
    near = int(operand) if -(2**63) <= operand < 2**63 and kind is AttributeType.INT else None
    held = data.draw(HELD[kind] if near is None else HELD[kind] | st.just(near))
    restated = restate(kind, relation, operand)
    if not isinstance(restated, bool):
        wanted = float if kind is AttributeType.FLOAT else int
        assert type(restated[1]) is wanted
        restated = RELATIONS[restated[0]](held, restated[1])
    assert restated == RELATIONS[relation](held, operand)


@pytest.mark.parametrize("kind", [AttributeType.STRING, AttributeType.BOOL, AttributeType.DATETIME])
def test_what_is_no_number_stays_as_it_is(kind: AttributeType) -> None:
    assert restate(kind, "gt", 5) == ("gt", 5)
