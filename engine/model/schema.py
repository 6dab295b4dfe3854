"""Attribute types and the schema of a namespace: definition, inference, merge, validation."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

import msgspec

from engine.model.document import ROOT_ATTRIBUTE

TypedScalar: TypeAlias = str | int | float | bool
TypedValue: TypeAlias = TypedScalar | list[str] | list[int] | list[float] | list[bool]
"""A value as the typed columns hold it: a datetime is UTC microseconds since 1970, a uuid lower-case text."""


class AttributeType(StrEnum):
    """The 14 types that can be searched or filtered, and ``json``, which is only stored."""

    STRING = "string"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"
    UUID = "uuid"
    DATETIME = "datetime"
    BOOL = "bool"
    STRINGS = "[]string"
    INTS = "[]int"
    UINTS = "[]uint"
    FLOATS = "[]float"
    UUIDS = "[]uuid"
    DATETIMES = "[]datetime"
    BOOLS = "[]bool"
    JSON = "json"

    @property
    def is_list(self) -> bool:
        return self.value.startswith("[]")

    @property
    def element(self) -> AttributeType:
        """The type of one element; a scalar type is its own."""
        return AttributeType(self.value.removeprefix("[]"))


class Attribute(msgspec.Struct, frozen=True):
    """One attribute of a namespace.

    Attributes:
        inferred: the type was guessed from a value; only such an ``int`` may widen to ``float``.
    """

    type: AttributeType
    is_searchable: bool = False
    is_filterable: bool = False
    inferred: bool = False


class Schema(msgspec.Struct, frozen=True):
    """The attributes of a namespace by name."""

    attributes: Mapping[str, Attribute] = {}

    def searchable(self) -> tuple[str, ...]:
        """The attributes whose text is indexed: those flagged or, when none is, every string attribute."""
        texts = {n: a for n, a in self.attributes.items() if a.type.element is AttributeType.STRING}
        flagged = tuple(n for n, a in texts.items() if a.is_searchable)
        return flagged or tuple(n for n in texts if n != ROOT_ATTRIBUTE)

    def filterable(self) -> tuple[str, ...]:
        """The attributes that filters may name, ``root_document_id`` included where it exists; ``id`` beside them always may."""
        return tuple(n for n, a in self.attributes.items() if a.is_filterable or n == ROOT_ATTRIBUTE)
