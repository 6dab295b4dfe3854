"""JSON to the filter tree, within limits.

Filter    := {} | {Key: Condition, …}             several keys: all must hold
Key       := attribute | "id" | "$and" | "$or" | "$nor" | "$not"
             ($and, $or, $nor: non-empty list of Filter; $not: a Filter)
Condition := scalar | null | list | {Operator: operand, …}     several operators: all must hold
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

from engine.errors import InvalidFilter
from engine.filters.ast import (
    And,
    Comparator,
    Contains,
    Equals,
    Exists,
    Filter,
    Glob,
    In,
    Not,
    Or,
    Place,
    Range,
    Scalar,
)
from engine.filters.glob import GlobTooComplex, translate

MAX_DEPTH = 16
"""Operators between filters (``$and``, ``$or``, ``$nor``, ``$not``) inside one another."""
MAX_NODES = 1_000
"""Operators of a filter, ``$and`` and its like included; an attribute with a bare value counts as one."""
MAX_VALUES = 10_000
MAX_STRING_BYTES = 4_096
MAX_PATTERNS = 50
MAX_PATTERN_CHARACTERS = 16_384
"""Of all patterns together. Each is held against every value of its attribute, which no index makes quicker."""

_PATH_KEY = 128


def decode_filter(raw: object) -> Filter | None:
    """The tree of a filter; None where there is none (``null`` or ``{}``). The schema plays no part yet.

    Raises:
        InvalidFilter: malformed or beyond a limit; the path is such as ``filters.$and[0].year.$gte``.
    """
    if raw is None:
        return None
    tree = _Decoder().filter(raw, "filters", 0)
    return None if tree == And(()) else tree


class _Decoder:
    """Decodes one filter; counts its nodes and patterns."""

    def __init__(self) -> None:
        self._nodes = 0
        self._patterns = 0
        self._pattern_characters = 0

    def filter(self, raw: object, path: str, depth: int) -> Filter:
        self._enter(path, depth)
        if not isinstance(raw, Mapping):
            _refuse(f"A filter is an object, not {_kind(raw)}.", path)
        entries = cast("Mapping[object, object]", raw)
        parts = [self._entry(key, value, path, depth) for key, value in entries.items()]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _entry(self, key: object, value: object, path: str, depth: int) -> Filter:
        if not isinstance(key, str):
            _refuse("The keys of a filter are attribute names and operators, so strings.", path)
        where = f"{path}.{_shown(key)}"
        if not key.startswith("$"):
            return self._condition(key, value, where, where, depth)
        if key == "$not":
            self._count(where)
            return Not(self.filter(value, where, depth + 1))
        if key not in ("$and", "$or", "$nor"):
            _refuse("Unknown operator; between filters there are $and, $or, $nor and $not.", where)
        args = _as_list(value)
        if not args:
            _refuse(f"{key} takes a list of one or more filters.", where)
        self._count(where)
        parts = tuple(self.filter(each, f"{where}[{index}]", depth + 1) for index, each in enumerate(args))
        if key == "$and":
            return And(parts)
        return Or(parts) if key == "$or" else Not(Or(parts))

    def _condition(self, attribute: str, raw: object, path: str, attribute_path: str, depth: int) -> Filter:
        self._enter(path, depth)
        if not isinstance(raw, Mapping):
            self._count(path)
            return _equals(attribute, raw, Place(attribute_path, path))
        operators = cast("Mapping[object, object]", raw)
        if not operators:
            _refuse('A condition needs a value or at least one operator, such as {"$eq": 1}.', path)
        parts = [self._operator(attribute, key, each, path, attribute_path, depth) for key, each in operators.items()]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _operator(
        self, attribute: str, operator: object, operand: object, path: str, attribute_path: str, depth: int
    ) -> Filter:
        where = f"{path}.{_shown(operator)}"
        self._count(where)
        if operator == "$not":
            return Not(self._condition(attribute, operand, where, attribute_path, depth + 1))
        known = _OPERATORS.get(operator) if isinstance(operator, str) else None
        if known is None:
            _refuse(f"Unknown operator; the operators are {', '.join((*_OPERATORS, '$not'))}.", where)
        build, negative = known
        if operator in _PATTERNS:
            self._count_pattern(operand, where)
        node = build(attribute, operand, Place(attribute_path, where))
        return Not(node) if negative else node

    def _count_pattern(self, pattern: object, path: str) -> None:
        self._patterns += 1
        self._pattern_characters += len(pattern) if isinstance(pattern, str) else 0
        if self._patterns > MAX_PATTERNS:
            _refuse(f"A filter has at most {MAX_PATTERNS} patterns.", path)
        if self._pattern_characters > MAX_PATTERN_CHARACTERS:
            _refuse(f"The patterns of a filter have at most {MAX_PATTERN_CHARACTERS:,} characters together.", path)

    def _enter(self, path: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            _refuse(f"A filter nests at most {MAX_DEPTH} levels.", path)

    def _count(self, path: str) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            _refuse(f"A filter has at most {MAX_NODES:,} operators.", path)


def _equals(attribute: str, operand: object, at: Place) -> Filter:
    if operand is None:
        return Not(Exists(attribute, at))
    listed = _as_list(operand)
    if listed is not None:
        return Equals(attribute, _scalars(listed, at.operand), at)
    return Equals(attribute, _scalar(operand, at.operand), at)


def _range(comparator: Comparator) -> Callable[[str, object, Place], Filter]:
    def build(attribute: str, operand: object, at: Place) -> Filter:
        return Range(attribute, comparator, _scalar(operand, at.operand), at)

    return build


def _in(attribute: str, operand: object, at: Place) -> Filter:
    listed = _as_list(operand)
    if listed is None:
        _refuse(f"The operand is a list of values, not {_kind(operand)}.", at.operand)
    found = In(attribute, _scalars(listed, at.operand, null=True), at)
    return Or((found, Not(Exists(attribute, at)))) if None in listed else found


def _contains(attribute: str, operand: object, at: Place) -> Filter:
    if operand is None:
        return Contains(attribute, (), "any", at)
    return Contains(attribute, (_scalar(operand, at.operand),), "one", at)


def _contains_any(attribute: str, operand: object, at: Place) -> Filter:
    return Contains(attribute, _listed(operand, at.operand)[0], "any", at)


def _contains_all(attribute: str, operand: object, at: Place) -> Filter:
    values, has_null = _listed(operand, at.operand)
    return Contains(attribute, (), "any", at) if has_null else Contains(attribute, values, "all", at)


def _glob(*, ignore_case: bool) -> Callable[[str, object, Place], Filter]:
    def build(attribute: str, operand: object, at: Place) -> Filter:
        if not isinstance(operand, str):
            _refuse(f"A pattern is a string, not {_kind(operand)}.", at.operand)
        pattern = cast("str", _scalar(operand, at.operand))
        try:
            translate(pattern, ignore_case=ignore_case)
        except GlobTooComplex as fault:
            raise InvalidFilter(f"This pattern cannot be used: {fault}.", path=at.operand) from None
        return Glob(attribute, pattern, ignore_case, at)

    return build


def _exists(attribute: str, operand: object, at: Place) -> Filter:
    if not isinstance(operand, bool):
        _refuse(f"The operand is true or false, not {_kind(operand)}.", at.operand)
    node = Exists(attribute, at)
    return node if operand else Not(node)


_Build = Callable[[str, object, Place], Filter]
_OPERATORS: dict[str, tuple[_Build, bool]] = {
    "$eq": (_equals, False),
    "$neq": (_equals, True),
    "$ne": (_equals, True),
    "$gt": (_range("gt"), False),
    "$gte": (_range("gte"), False),
    "$lt": (_range("lt"), False),
    "$lte": (_range("lte"), False),
    "$in": (_in, False),
    "$not_in": (_in, True),
    "$nin": (_in, True),
    "$contains": (_contains, False),
    "$not_contains": (_contains, True),
    "$contains_any": (_contains_any, False),
    "$contains_all": (_contains_all, False),
    "$not_contains_any": (_contains_any, True),
    "$glob": (_glob(ignore_case=False), False),
    "$not_glob": (_glob(ignore_case=False), True),
    "$iglob": (_glob(ignore_case=True), False),
    "$not_iglob": (_glob(ignore_case=True), True),
    "$exists": (_exists, False),
}
"""Operator to the builder of its positive form, and whether it is the negative of that."""


_PATTERNS = frozenset(name for name in _OPERATORS if "glob" in name)


def _listed(operand: object, path: str) -> tuple[tuple[Scalar, ...], bool]:
    """The values of a list without its nulls, which no list attribute holds, and whether there was one."""
    values = _as_list(operand)
    if values is None:
        _refuse(f"The operand is a list of values, not {_kind(operand)}.", path)
    return _scalars(values, path, null=True), None in values


def _scalars(values: Sequence[object], path: str, *, null: bool = False) -> tuple[Scalar, ...]:
    if len(values) > MAX_VALUES:
        _refuse(f"A list has at most {MAX_VALUES:,} values, not {len(values):,}.", path)
    return tuple(_scalar(each, path, index) for index, each in enumerate(values) if not (null and each is None))


def _scalar(value: object, path: str, index: int | None = None) -> Scalar:
    if isinstance(value, str):
        if value.isascii() and len(value) <= MAX_STRING_BYTES:
            return value
        try:
            size = len(value.encode())
        except UnicodeError:
            _refuse("A string must be valid Unicode: this holds half of a surrogate pair.", path, index)
        if size > MAX_STRING_BYTES:
            _refuse(f"A string has at most {MAX_STRING_BYTES:,} bytes of UTF-8, not {size:,}.", path, index)
    elif isinstance(value, float):
        if not math.isfinite(value):
            _refuse("A number is finite: NaN and infinities have no place in a filter.", path, index)
    elif not isinstance(value, int):
        _refuse(f"A value is a string, a number or a boolean, not {_kind(value)}.", path, index)
    return value


def _as_list(value: object) -> Sequence[Any] | None:
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else None


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"the Python type {type(value).__name__}"


def _shown(key: object) -> str:
    return str(key)[:_PATH_KEY].encode(errors="replace").decode()


def _refuse(message: str, path: str, index: int | None = None) -> NoReturn:
    raise InvalidFilter(message, path=path if index is None else f"{path}[{index}]")
