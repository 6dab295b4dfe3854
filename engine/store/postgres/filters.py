"""A checked filter as a PostgreSQL condition over the `documents` table. Values are parameters, never text.

Attributes stand in one ``jsonb`` object a document, ``d.attributes``; a missing one is left out of it. As in the DuckDB
compiler every part is two-valued. Patterns are no part of the dialect: `patterns_to_values` turns each into the values
that match it, so that globs mean what `engine.filters.glob` says and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, assert_never

import msgspec

from engine.filters.ast import And, Contains, Equals, Exists, Filter, Glob, In, Leaf, Not, Or, Range, Scalar
from engine.filters.check import CheckedFilter
from engine.filters.glob import matcher
from engine.filters.numbers import NUMBERS, Relation, restate
from engine.filters.simplify import simplify
from engine.model.document import ROOT_ATTRIBUTE
from engine.model.schema import AttributeType
from engine.store.postgres.text import escaped

_OPERATORS: dict[Relation, str] = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_CASTS = {
    AttributeType.STRING: ("", ' COLLATE "C"', "text"),
    AttributeType.UUID: ("", ' COLLATE "C"', "text"),
    AttributeType.INT: ("::int8", "", "int8"),
    AttributeType.UINT: ("::numeric", "", "numeric"),
    AttributeType.DATETIME: ("::int8", "", "int8"),
    AttributeType.FLOAT: ("::float8", "", "float8"),
    AttributeType.BOOL: ("::boolean", "", "boolean"),
}
_COLUMNS = {"id": "d.id", ROOT_ATTRIBUTE: "d.root_id"}


class Condition(msgspec.Struct, frozen=True):
    """A boolean SQL expression that is never NULL, with ``%s`` for each of its parameters."""

    sql: str
    params: tuple[Any, ...] = ()


ValuesOf = Callable[[str], Iterable[str]]
"""The distinct strings of an attribute in the namespace."""


def patterns_to_values(tree: Filter, values_of: ValuesOf) -> Filter:
    """`tree` with every pattern as the values of its attribute that match it."""
    match tree:
        case And(args):
            return And(tuple(patterns_to_values(arg, values_of) for arg in args))
        case Or(args):
            return Or(tuple(patterns_to_values(arg, values_of) for arg in args))
        case Not(arg):
            return Not(patterns_to_values(arg, values_of))
        case Glob(attribute, pattern, ignore_case):
            expression = matcher(pattern, ignore_case=ignore_case)
            return In(attribute, tuple(value for value in values_of(attribute) if expression.fullmatch(value)))
        case _:
            return tree


def compile_condition(checked: CheckedFilter, values_of: ValuesOf) -> Condition:
    """Translate a checked filter; it holds for the documents for which `engine.filters.evaluate.matches` does."""
    return _compile(simplify(patterns_to_values(checked.tree, values_of)), dict(checked.types))


def _compile(tree: Filter, types: dict[str, AttributeType]) -> Condition:
    match tree:
        case And(args):
            return _joined(" AND ", [_compile(arg, types) for arg in args], "true")
        case Or(args):
            return _joined(" OR ", [_compile(arg, types) for arg in args], "false")
        case Not(arg):
            inner = _compile(arg, types)
            return Condition(f"(NOT {inner.sql})", inner.params)
        case _:
            return _leaf(tree, types[tree.attribute])


def _leaf(leaf: Leaf, kind: AttributeType) -> Condition:
    name = leaf.attribute
    match leaf:
        case Equals(_, value):
            return _whole_list(kind, name, value) if isinstance(value, tuple) else _compare(kind, name, "eq", value)
        case Range(_, comparator, value):
            return _compare(kind, name, comparator, value)
        case In(_, values) | Contains(_, values, "one" | "any"):
            return _any_of(kind, name, _representable(kind, values))
        case Contains(_, values):
            wanted = list(dict.fromkeys(values))
            held = _representable(kind, wanted)
            if len(held) < len(wanted):
                return Condition("false")
            return Condition("coalesce(d.attributes -> %s @> %s::jsonb, false)", (escaped(name), _json(held)))
        case Exists():
            return _exists(name)
        case Glob():
            raise ValueError("patterns are replaced before a filter is compiled")
        case _:
            assert_never(leaf)


def _whole_list(kind: AttributeType, name: str, values: Sequence[Scalar]) -> Condition:
    held = _representable(kind, values)
    if len(held) < len(values):
        return Condition("false")
    return Condition("coalesce(d.attributes -> %s = %s::jsonb, false)", (escaped(name), _json(held)))


def _exists(name: str) -> Condition:
    if name in _COLUMNS:
        return Condition(f"({_COLUMNS[name]} IS NOT NULL)")
    return Condition("(d.attributes ? %s)", (escaped(name),))


def _compare(kind: AttributeType, name: str, relation: Relation, value: Scalar) -> Condition:
    restated = restate(kind, relation, value)
    if restated is False:
        return Condition("false")
    if restated is True:
        # Any element will do, but there must be one.
        if kind.is_list:
            return Condition("coalesce(jsonb_array_length(d.attributes -> %s) > 0, false)", (escaped(name),))
        return _exists(name)
    relation, value = restated
    cast, collation, mark = _CASTS[kind.element]
    test = f"{_OPERATORS[relation]} %s::{mark}"
    return _holds(kind, name, cast, collation, test, _param(value))


def _any_of(kind: AttributeType, name: str, values: Sequence[Scalar]) -> Condition:
    if not values:
        return Condition("false")
    cast, collation, mark = _CASTS[kind.element]
    return _holds(kind, name, cast, collation, f"= ANY(%s::{mark}[])", [_param(value) for value in values])


def _holds(kind: AttributeType, name: str, cast: str, collation: str, test: str, param: object) -> Condition:
    if name in _COLUMNS:
        return Condition(f"coalesce({_COLUMNS[name]}{collation} {test}, false)", (param,))
    if kind.is_list:
        some = f"SELECT 1 FROM jsonb_array_elements_text(d.attributes -> %s) AS e(v) WHERE (v){cast}{collation} {test}"
        return Condition(f"EXISTS ({some})", (escaped(name), param))
    return Condition(f"coalesce((d.attributes ->> %s){cast}{collation} {test}, false)", (escaped(name), param))


def _joined(operator: str, parts: Sequence[Condition], empty: str) -> Condition:
    if not parts:
        return Condition(empty)
    sql = operator.join(part.sql for part in parts)
    return Condition(f"({sql})", tuple(param for part in parts for param in part.params))


def _representable(kind: AttributeType, values: Iterable[Scalar]) -> list[Scalar]:
    """Those values that an element of `kind` can equal, in its own type."""
    if kind.element not in NUMBERS:
        return list(values)
    restated = (restate(kind, "eq", value) for value in values)
    return [each[1] for each in restated if not isinstance(each, bool)]


def _param(value: Scalar) -> Scalar:
    return escaped(value) if isinstance(value, str) else value


def _json(values: Sequence[Scalar]) -> str:
    return json.dumps([_param(value) for value in values])
