"""Comparisons restated within a type mean what Python's exact comparison means."""

from __future__ import annotations

import math
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


def near(kind: AttributeType, operand: float) -> list[Any]:
    """Values of the type beside the operand, where rounding would show."""
    if kind is AttributeType.FLOAT:
        if not abs(operand) < 2**1000:
            return [1.7976931348623157e308, -1.7976931348623157e308]
        nearest = float(operand)
        return [nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, -math.inf)]
    low, high = (0, 2**64 - 1) if kind is AttributeType.UINT else (-(2**63), 2**63 - 1)
    return [min(max(math.floor(operand) + step, low), high) for step in (-1, 0, 1)]


@given(
    kind=st.sampled_from(sorted(HELD)), relation=st.sampled_from(sorted(RELATIONS)), operand=operands, data=st.data()
)
def test_a_restated_comparison_has_the_outcome_of_the_original(
    kind: AttributeType, relation: Relation, operand: float, data: st.DataObject
) -> None:
    held = data.draw(HELD[kind] | st.sampled_from(near(kind, operand)))
    restated = restate(kind, relation, operand)
    if not isinstance(restated, bool):
        wanted = float if kind is AttributeType.FLOAT else int
        assert type(restated[1]) is wanted
        restated = RELATIONS[restated[0]](held, restated[1])
    assert restated == RELATIONS[relation](held, operand)


@pytest.mark.parametrize("kind", [AttributeType.STRING, AttributeType.BOOL, AttributeType.DATETIME])
def test_what_is_no_number_stays_as_it_is(kind: AttributeType) -> None:
    assert restate(kind, "gt", 5) == ("gt", 5)


@pytest.mark.parametrize("operand", [2**53 + 1, 2**53 + 3, -(2**53) - 1, 2**64 - 1, 10**30])
@pytest.mark.parametrize("relation", sorted(RELATIONS))
def test_an_int_that_no_float_holds_is_compared_exactly(relation: Relation, operand: int) -> None:
    restated = restate(AttributeType.FLOAT, relation, operand)
    for held in near(AttributeType.FLOAT, operand):
        found = restated if isinstance(restated, bool) else RELATIONS[restated[0]](held, restated[1])
        assert found == RELATIONS[relation](held, operand)
