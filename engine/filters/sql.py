"""A checked filter as a DuckDB expression over typed columns. Values are parameters, never text of the statement.

Every part is two-valued: it says ``IS NOT NULL AND …`` (which DuckDB pushes into the scan, where it does not push
``coalesce``), so that NOT of it holds for missing values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never, cast

import msgspec

from engine.filters.ast import And, Contains, Equals, Exists, Filter, Glob, In, Leaf, Not, Or, Range, Scalar
from engine.filters.check import CheckedFilter
from engine.filters.glob import translate
from engine.filters.numbers import NUMBERS, Relation, restate
from engine.filters.simplify import simplify
from engine.model.document import ROOT_ATTRIBUTE
from engine.model.schema import AttributeType, TypedValue

_SCALARS = {
    AttributeType.STRING: "VARCHAR",
    AttributeType.INT: "BIGINT",
    AttributeType.UINT: "UBIGINT",
    AttributeType.FLOAT: "DOUBLE",
    AttributeType.UUID: "VARCHAR",
    AttributeType.DATETIME: "BIGINT",
    AttributeType.BOOL: "BOOLEAN",
}
COLUMN_TYPES: dict[AttributeType, str] = {
    **_SCALARS,
    **{kind: f"{_SCALARS[kind.element]}[]" for kind in AttributeType if kind.is_list},
}
"""Attribute type to the type of its column: a uuid is lower-case text, a datetime UTC microseconds. No ``json``."""

_OPERATORS: dict[Relation, str] = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

INLINE_VALUES = 16
"""Up to so many values of ``IN`` are compared one by one; more become a hash join, whose fixed cost is about 2 ms."""
INLINE_ELEMENTS = 32
"""The same for list attributes, where `list_has_any` would be ten times slower than either."""
MAX_JOINS = 64
MAX_ELEMENT_JOINS = 16
"""Joins of one filter; planning more of them takes longer than comparing one by one (over lists: 16 0.7 s, 64 80 s)."""


class Predicate(msgspec.Struct, frozen=True):
    """A boolean SQL expression that is never NULL, and its positional parameters."""

    sql: str
    params: tuple[TypedValue, ...] = ()


def compile_filter(checked: CheckedFilter, columns: Mapping[str, str]) -> Predicate:
    """Translate a checked filter; it holds for the rows for which `matches` does.

    Args:
        columns: attribute name, ``id`` included, to the quoted column; the only identifiers that reach the statement.
            ``root_document_id`` may be left out where no document has it.

    Raises:
        ValueError: an attribute of the filter has no column.
    """
    compiler = _Compiler(dict(checked.types), columns)
    return compiler.compile(simplify(checked.tree))


class _Compiler:
    def __init__(self, types: Mapping[str, AttributeType], columns: Mapping[str, str]) -> None:
        self._types = types
        self._columns = columns
        self._joins = 0

    def compile(self, tree: Filter) -> Predicate:
        match tree:
            case And(args):
                return _joined(" AND ", [self.compile(arg) for arg in args], "true")
            case Or(args):
                return _joined(" OR ", [self.compile(arg) for arg in args], "false")
            case Not(arg):
                inner = self.compile(arg)
                return Predicate(f"(NOT {inner.sql})", inner.params)
            case _:
                return self._leaf(tree, self._types[tree.attribute], self._column(tree.attribute))

    def _column(self, attribute: str) -> str:
        column = self._columns.get(attribute)
        if column is None and attribute == ROOT_ATTRIBUTE:
            return "NULL::VARCHAR"
        if column is None:
            raise ValueError(f"no column for the attribute {attribute!r}")
        return column

    def _leaf(self, leaf: Leaf, kind: AttributeType, column: str) -> Predicate:
        match leaf:
            case Equals(_, value):
                return (
                    _whole_list(kind, column, value)
                    if isinstance(value, tuple)
                    else _compare(kind, column, "eq", value)
                )
            case Range(_, comparator, value):
                return _compare(kind, column, comparator, value)
            case In(_, values) | Contains(_, values, "one" | "any"):
                return self._any_of(kind, column, _representable(kind, values))
            case Contains(_, values):
                return _all_of(kind, column, values)
            case Glob(_, pattern, ignore_case):
                return _glob(kind, column, translate(pattern, ignore_case=ignore_case))
            case Exists():
                return Predicate(f"({column} IS NOT NULL)")
            case _:
                assert_never(leaf)

    def _any_of(self, kind: AttributeType, column: str, values: Sequence[Scalar]) -> Predicate:
        if not values:
            return Predicate("false")
        few, most = (INLINE_ELEMENTS, MAX_ELEMENT_JOINS) if kind.is_list else (INLINE_VALUES, MAX_JOINS)
        inline = len(values) <= few or self._joins >= most
        if not inline:
            self._joins += 1
        mark = f"?::{COLUMN_TYPES[kind.element]}"
        if kind.is_list:
            if inline:
                either = " OR ".join([f"list_contains({column}, {mark})"] * len(values))
                return Predicate(f"({column} IS NOT NULL AND ({either}))", tuple(values))
            return Predicate(
                f"EXISTS (SELECT 1 FROM (SELECT unnest({column}) AS element) AS elements "  # noqa: S608
                f"WHERE element IN (SELECT unnest({mark}[])))",
                (_as_parameter(values),),
            )
        if inline:
            marks = ", ".join([mark] * len(values))
            return Predicate(f"({column} IS NOT NULL AND {column} IN ({marks}))", tuple(values))
        return Predicate(
            f"({column} IS NOT NULL AND {column} IN (SELECT unnest({mark}[])))",
            (_as_parameter(values),),
        )


def _joined(operator: str, parts: Iterable[Predicate], empty: str) -> Predicate:
    parts = list(parts)
    if not parts:
        return Predicate(empty)
    sql = operator.join(part.sql for part in parts)
    return Predicate(f"({sql})", tuple(param for part in parts for param in part.params))


def _compare(kind: AttributeType, column: str, relation: Relation, value: Scalar) -> Predicate:
    restated = restate(kind, relation, value)
    if restated is False:
        return Predicate("false")
    if restated is True:
        # Any element will do, but there must be one.
        return Predicate(f"coalesce(len({column}) > 0, false)" if kind.is_list else f"({column} IS NOT NULL)")
    relation, value = restated
    mark = f"?::{COLUMN_TYPES[kind.element]}"
    if not kind.is_list:
        return Predicate(f"({column} IS NOT NULL AND {column} {_OPERATORS[relation]} {mark})", (value,))
    if relation == "eq":
        return Predicate(f"({column} IS NOT NULL AND list_contains({column}, {mark}))", (value,))
    # Some element is above a bound when the largest is. The largest of an empty list is NULL.
    extreme = "list_max" if relation in ("gt", "gte") else "list_min"
    return Predicate(f"coalesce({extreme}({column}) {_OPERATORS[relation]} {mark}, false)", (value,))


def _whole_list(kind: AttributeType, column: str, values: Sequence[Scalar]) -> Predicate:
    held = _representable(kind, values)
    if len(held) < len(values):
        return Predicate("false")
    return Predicate(f"({column} IS NOT NULL AND {column} = ?::{COLUMN_TYPES[kind]})", (_as_parameter(held),))


def _all_of(kind: AttributeType, column: str, values: Sequence[Scalar]) -> Predicate:
    wanted = list(dict.fromkeys(values))
    held = _representable(kind, wanted)
    if len(held) < len(wanted):
        return Predicate("false")
    if len(held) <= INLINE_ELEMENTS:
        each = "".join([f" AND list_contains({column}, ?::{COLUMN_TYPES[kind.element]})"] * len(held))
        return Predicate(f"({column} IS NOT NULL{each})", tuple(held))
    # A list with fewer elements than there are values cannot hold them all; few lists are that long.
    return Predicate(
        f"(CASE WHEN len({column}) >= {len(held)} THEN list_has_all({column}, ?::{COLUMN_TYPES[kind]}) ELSE false END)",
        (_as_parameter(held),),
    )


def _glob(kind: AttributeType, column: str, expression: str) -> Predicate:
    # The option s lets a dot match line ends.
    if kind.is_list:
        found = f"len(list_filter({column}, lambda element: regexp_full_match(element, ?, 's'))) > 0"
    else:
        found = f"regexp_full_match({column}, ?, 's')"
    return Predicate(f"({column} IS NOT NULL AND {found})", (expression,))


def _representable(kind: AttributeType, values: Iterable[Scalar]) -> list[Scalar]:
    """Those values that an element of `kind` can equal, in its own type."""
    if kind.element not in NUMBERS:
        return list(values)
    restated = (restate(kind, "eq", value) for value in values)
    return [each[1] for each in restated if not isinstance(each, bool)]


def _as_parameter(values: Sequence[Scalar]) -> TypedValue:
    return cast("TypedValue", list(values))
