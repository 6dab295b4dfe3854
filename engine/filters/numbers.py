"""Comparison of a numeric column with any number, restated as one within the column's own type.

DuckDB would compare a BIGINT with a DOUBLE as doubles, and so confuse neighbours beyond 2**53. Python compares exactly;
so does what `restate` gives.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from engine.filters.ast import Comparator, Scalar
from engine.model.schema import AttributeType
from engine.model.values import INT_MAX, INT_MIN, UINT_MAX

Relation: TypeAlias = Comparator | Literal["eq"]
Restated: TypeAlias = tuple[Relation, Scalar] | bool
"""A comparison with a value of the column's type, or its outcome for every value that is not missing."""

NUMBERS = (AttributeType.INT, AttributeType.UINT, AttributeType.FLOAT)
"""Element types that compare with any number."""

_LIMITS = {AttributeType.INT: (INT_MIN, INT_MAX), AttributeType.UINT: (0, UINT_MAX)}


def restate(kind: AttributeType, relation: Relation, value: Scalar) -> Restated:
    """The comparison of elements of `kind` with `value` as one within that type.

    >>> restate(AttributeType.INT, "gt", 2.5)
    ('gt', 2)
    >>> restate(AttributeType.UINT, "gte", -1)
    True
    """
    limits = _LIMITS.get(kind.element)
    if limits is not None and isinstance(value, (int, float)):
        return _among_integers(relation, value, *limits)
    if kind.element is AttributeType.FLOAT and isinstance(value, int):
        return _among_doubles(relation, value)
    return relation, value


def _among_integers(relation: Relation, value: float, low: int, high: int) -> Restated:
    whole = math.floor(value)
    if whole != value:
        # Between two integers: what is at least `value` is above the lower one, and so on.
        if relation == "eq":
            return False
        relation = "gt" if relation in ("gt", "gte") else "lte"
        if whole < low:
            return relation == "gt"
    if whole > high:
        return relation in ("lt", "lte")
    if whole < low:
        return relation in ("gt", "gte")
    return relation, whole


def _among_doubles(relation: Relation, value: int) -> Restated:
    try:
        nearest = float(value)
    except OverflowError:
        return relation in (("lt", "lte") if value > 0 else ("gt", "gte"))
    if nearest == value:
        return relation, nearest
    if relation == "eq":
        return False
    # No double lies between `value` and `nearest`, so only the side of `nearest` matters.
    if nearest > value:
        return ("gte" if relation in ("gt", "gte") else "lt"), nearest
    return ("gt" if relation in ("gt", "gte") else "lte"), nearest
