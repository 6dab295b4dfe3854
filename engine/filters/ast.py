"""The filter tree: what a filter says, whatever way it was written.

Filter := And | Or | Not | Leaf
Leaf   := Equals | Range | In | Contains | Glob | Exists

`decode_filter` writes every negative operator as `Not` of its positive, ``$nor`` as `Not` of `Or`, aliases as what they
stand for, and null as a missing value, so that no later step knows of them. A leaf never holds for a missing value.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Scalar: TypeAlias = str | int | float | bool
"""An operand. In a checked tree a datetime is UTC microseconds and a uuid lower-case text."""

Comparator: TypeAlias = Literal["gt", "gte", "lt", "lte"]


class Place(msgspec.Struct, frozen=True):
    """Where a leaf stands in the request, for errors: the path of its attribute and that of its operand."""

    attribute: str = ""
    operand: str = ""


NOWHERE = Place()
"""The place of every leaf of a checked tree, so that filters of one meaning are equal."""


class Node(msgspec.Struct, frozen=True, tag_field="node", tag=str.lower):
    """Base of all nodes."""


class And(Node, frozen=True):
    """Every argument holds; true when there are none."""

    args: tuple[Filter, ...]


class Or(Node, frozen=True):
    """Some argument holds; false when there are none."""

    args: tuple[Filter, ...]


class Not(Node, frozen=True):
    """The argument does not hold."""

    arg: Filter


class Equals(Node, frozen=True):
    """The value, or an element of a list value, is `value`; where that is a tuple, the whole list is, in order."""

    attribute: str
    value: Scalar | tuple[Scalar, ...]
    at: Place = NOWHERE


class Range(Node, frozen=True):
    """The value, or an element of a list value, compares so: numbers and times by size, strings by code point."""

    attribute: str
    comparator: Comparator
    value: Scalar
    at: Place = NOWHERE


class In(Node, frozen=True):
    """The value, or an element of a list value, is one of `values`."""

    attribute: str
    values: tuple[Scalar, ...]
    at: Place = NOWHERE


class Contains(Node, frozen=True):
    """The list value has one of `values`, or every one of them.

    Attributes:
        how: ``one`` when the operand was a single value, not a list; it then means the same as ``any``.
    """

    attribute: str
    values: tuple[Scalar, ...]
    how: Literal["one", "any", "all"]
    at: Place = NOWHERE


class Glob(Node, frozen=True):
    """The string, or an element of a list of strings, matches `pattern` from end to end."""

    attribute: str
    pattern: str
    ignore_case: bool
    at: Place = NOWHERE


class Exists(Node, frozen=True):
    """There is a value; ``[]`` is one."""

    attribute: str
    at: Place = NOWHERE


Leaf: TypeAlias = Equals | Range | In | Contains | Glob | Exists
Filter: TypeAlias = And | Or | Not | Leaf
