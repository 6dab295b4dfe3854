"""A filter tree against a schema: attributes resolved, operands of the attributes' types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import msgspec

from engine.errors import AttributeNotFilterable, FilterTypeMismatch, UnknownAttribute
from engine.filters.ast import (
    NOWHERE,
    And,
    Contains,
    Equals,
    Exists,
    Filter,
    Glob,
    In,
    Leaf,
    Not,
    Or,
    Range,
    Scalar,
)
from engine.filters.decode import decode_filter
from engine.filters.numbers import NUMBERS
from engine.model.document import ROOT_ATTRIBUTE
from engine.model.schema import AttributeType, Schema
from engine.model.values import describe, parse_datetime, parse_uuid

_ALWAYS = {"id": AttributeType.STRING, ROOT_ATTRIBUTE: AttributeType.STRING}


class CheckedFilter(msgspec.Struct, frozen=True):
    """A filter that fits a schema, ready to be compiled or evaluated. Hashable; equal when it says the same.

    Attributes:
        tree: operands are typed values; numbers stay as they were sent and compare as numbers.
        types: the type of each attribute that the tree names, by name.
    """

    tree: Filter
    types: tuple[tuple[str, AttributeType], ...]


def parse_filter(raw: object, schema: Schema) -> CheckedFilter | None:
    """A filter from JSON, decoded and checked; None where there is none (``null`` or ``{}``).

    Raises:
        InvalidFilter, UnknownAttribute, AttributeNotFilterable, FilterTypeMismatch: with the path of the fault.
    """
    tree = decode_filter(raw)
    return None if tree is None else check_filter(tree, schema)


def check_filter(tree: Filter, schema: Schema) -> CheckedFilter:
    """`tree` with operands coerced to the types that `schema` gives its attributes.

    Raises:
        UnknownAttribute, AttributeNotFilterable: the path is that of the attribute.
        FilterTypeMismatch: an operand or an operator does not fit the type; the path is that of the operand.
    """
    types: dict[str, AttributeType] = {}
    checked = _check(tree, schema, types)
    return CheckedFilter(checked, tuple(sorted(types.items())))


def conjoin(first: CheckedFilter | None, second: CheckedFilter | None) -> CheckedFilter | None:
    """The filter that holds where both do; None is no filter.

    Raises:
        ValueError: the two were checked against schemas that give an attribute different types.
    """
    if first is None or second is None or first == second:
        return second if first is None else first
    types = dict(first.types)
    for name, kind in second.types:
        if types.setdefault(name, kind) is not kind:
            raise ValueError(f"the attribute {name!r} is {types[name]} in one filter and {kind} in the other")
    return CheckedFilter(And((*_conjuncts(first.tree), *_conjuncts(second.tree))), tuple(sorted(types.items())))


def _conjuncts(tree: Filter) -> Iterator[Filter]:
    if isinstance(tree, And):
        yield from tree.args
    else:
        yield tree


def _check(tree: Filter, schema: Schema, types: dict[str, AttributeType]) -> Filter:
    match tree:
        case And(args):
            return And(tuple(_check(arg, schema, types) for arg in args))
        case Or(args):
            return Or(tuple(_check(arg, schema, types) for arg in args))
        case Not(arg):
            return Not(_check(arg, schema, types))
        case _:
            kind = _type_of(tree, schema)
            types[tree.attribute] = kind
            return _check_leaf(tree, kind)


def _type_of(leaf: Leaf, schema: Schema) -> AttributeType:
    name = leaf.attribute
    if name in _ALWAYS:
        return _ALWAYS[name]
    attribute = schema.attributes.get(name)
    shown = name[:128].encode(errors="replace").decode()
    if attribute is None:
        raise UnknownAttribute(f"The namespace has no attribute {shown!r}.", path=leaf.at.attribute)
    if not attribute.is_filterable:
        raise AttributeNotFilterable(
            f"The attribute {shown!r} is not filterable; set `is_filterable` in its schema.", path=leaf.at.attribute
        )
    return attribute.type


def _check_leaf(leaf: Leaf, kind: AttributeType) -> Filter:
    path = leaf.at.operand
    match leaf:
        case Equals(name, value):
            return Equals(name, _whole(leaf, kind, value) if isinstance(value, tuple) else _operand(kind, value, path))
        case Range(name, comparator, value):
            if kind.element is AttributeType.BOOL:
                raise FilterTypeMismatch(f"{name!r} is of type {kind}, which has no order.", path=path)
            return Range(name, comparator, _operand(kind, value, path))
        case In(name, values):
            return In(name, _operands(kind, values, path))
        case Contains(name, values, how):
            if not kind.is_list:
                raise FilterTypeMismatch(
                    f"{name!r} is of type {kind}; $contains and its like need a list attribute.", path=path
                )
            if how == "one":
                return Contains(name, (_operand(kind, values[0], path),), "any")
            return Contains(name, _operands(kind, values, path), how)
        case Glob(name, pattern, ignore_case):
            if kind.element is not AttributeType.STRING:
                raise FilterTypeMismatch(f"{name!r} is of type {kind}; patterns match strings only.", path=path)
            return Glob(name, pattern, ignore_case)
        case Exists(name):
            return Exists(name, NOWHERE)
        case _:
            assert_never(leaf)


def _whole(leaf: Equals, kind: AttributeType, values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    if not kind.is_list:
        raise FilterTypeMismatch(
            f"{leaf.attribute!r} is of type {kind} and cannot equal a list; use $in to match any of several values.",
            path=leaf.at.operand,
        )
    return _operands(kind, values, leaf.at.operand)


def _operands(kind: AttributeType, values: tuple[Scalar, ...], path: str) -> tuple[Scalar, ...]:
    if kind.element is AttributeType.STRING and all(isinstance(value, str) for value in values):
        return values
    return tuple(_operand(kind, value, path, index) for index, value in enumerate(values))


def _operand(kind: AttributeType, value: Scalar, path: str, index: int | None = None) -> Scalar:
    element = kind.element
    if element in NUMBERS:
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    elif element is AttributeType.BOOL:
        fits = isinstance(value, bool)
    else:
        fits = isinstance(value, str)
    if not fits:
        raise _mismatch(kind, describe(value), path, index)
    if not isinstance(value, str):
        return value
    try:
        if element is AttributeType.DATETIME:
            return parse_datetime(value)
        return parse_uuid(value) if element is AttributeType.UUID else value
    except ValueError as fault:
        raise _mismatch(kind, str(fault), path, index) from None


def _mismatch(kind: AttributeType, got: str, path: str, index: int | None) -> FilterTypeMismatch:
    where = path if index is None else f"{path}[{index}]"
    return FilterTypeMismatch(f"The attribute is of type {kind}; the operand is {got}.", path=where)
