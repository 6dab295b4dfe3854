"""What a filter means: the slow twin of `sql`, which must agree with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, assert_never

from engine.filters.ast import And, Comparator, Contains, Equals, Exists, Filter, Glob, In, Leaf, Not, Or, Range
from engine.filters.check import CheckedFilter
from engine.filters.glob import matcher
from engine.model.schema import TypedScalar, TypedValue

_COMPARE: dict[Comparator, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


def matches(checked: CheckedFilter, row: Mapping[str, TypedValue | None]) -> bool:
    """Whether a document satisfies a filter.

    Args:
        row: typed values by attribute, ``id`` among them; a missing one is left out or None.
    """
    return _holds(checked.tree, row)


def _holds(tree: Filter, row: Mapping[str, TypedValue | None]) -> bool:
    match tree:
        case And(args):
            return all(_holds(arg, row) for arg in args)
        case Or(args):
            return any(_holds(arg, row) for arg in args)
        case Not(arg):
            return not _holds(arg, row)
        case _:
            held = row.get(tree.attribute)
            return held is not None and _leaf_holds(tree, held)


def _leaf_holds(leaf: Leaf, held: TypedValue) -> bool:
    elements: list[TypedScalar] = [*held] if isinstance(held, list) else [held]
    match leaf:
        case Equals(_, tuple() as values):
            return elements == list(values)
        case Equals(_, value):
            return value in elements
        case Range(_, comparator, value):
            return any(_COMPARE[comparator](element, value) for element in elements)
        case In(_, values) | Contains(_, values, "one" | "any"):
            return any(element in values for element in elements)
        case Contains(_, values):
            return all(value in elements for value in values)
        case Glob(_, pattern, ignore_case):
            expression = matcher(pattern, ignore_case=ignore_case)
            return any(expression.fullmatch(str(element)) is not None for element in elements)
        case Exists():
            return True
        case _:
            assert_never(leaf)
