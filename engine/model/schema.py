"""Attribute types and the schema of a namespace: definition, decoding of a request's schema, merge.

Inference from documents is in `engine.model.inference`, checking of documents in `engine.model.checking`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias, cast

import msgspec

from engine.errors import InvalidSchema, SchemaConflict
from engine.model.document import ROOT_ATTRIBUTE

MAX_ATTRIBUTES = 256
"""Attributes a namespace, ``id`` not counted."""

MAX_ATTRIBUTE_NAME = 128
_SURROGATE = re.compile("[\ud800-\udfff]")

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


ORDERED_TYPES = frozenset([AttributeType.INT, AttributeType.UINT, AttributeType.FLOAT, AttributeType.DATETIME])
"""Element types whose values have a least and a largest."""


class Attribute(msgspec.Struct, frozen=True):
    """One attribute of a namespace.

    Attributes:
        inferred: the type was guessed from a value; only such an ``int`` may widen to ``float``.
    """

    type: AttributeType
    is_searchable: bool = False
    is_filterable: bool = False
    inferred: bool = False


class Definition(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attribute as it is shown: with the flags that are in effect.

    Attributes:
        inferred: nobody asked for its text to be searched; it is because no attribute is flagged.
    """

    type: AttributeType
    is_searchable: bool
    is_filterable: bool
    inferred: bool = False


class Schema(msgspec.Struct, frozen=True):
    """The attributes of a namespace by name, with the flags that were asked for."""

    attributes: Mapping[str, Attribute] = {}

    def searchable(self) -> tuple[str, ...]:
        """The attributes whose text is indexed: those flagged or, when none is, every string attribute."""
        texts = {n: a for n, a in self.attributes.items() if a.type.element is AttributeType.STRING}
        flagged = tuple(n for n, a in texts.items() if a.is_searchable)
        return flagged or tuple(n for n in texts if n != ROOT_ATTRIBUTE)

    def definitions(self) -> dict[str, Definition]:
        """What is in effect, by name; uploaded as a schema, it changes nothing that is searched or filtered."""
        searched, filtered = set(self.searchable()), set(self.filterable())
        return {
            name: Definition(
                a.type, name in searched, name in filtered, inferred=name in searched and not a.is_searchable
            )
            for name, a in self.attributes.items()
        }

    def filterable(self) -> tuple[str, ...]:
        """The attributes that filters may name, ``root_document_id`` included; ``id`` beside them always may be."""
        return tuple(n for n, a in self.attributes.items() if a.is_filterable or n == ROOT_ATTRIBUTE)


class AttributePatch(msgspec.Struct, frozen=True):
    """What a request says of one attribute; None leaves what is there, or the default, as it is."""

    type: AttributeType | None = None
    is_searchable: bool | None = None
    is_filterable: bool | None = None


_WIDENED = {AttributeType.INT: AttributeType.FLOAT, AttributeType.INTS: AttributeType.FLOATS}
_FLAGS = ("is_searchable", "is_filterable")
_KEYS = ("type", *_FLAGS)
_SHOWN_KEYS = (*_KEYS, "inferred")
"""``inferred`` stands in what is shown, so it may come back; it says nothing."""


def widened(attribute: Attribute) -> AttributeType | None:
    """The type that `attribute` may still turn into: ``float`` for an inferred ``int``, likewise for lists."""
    return _WIDENED.get(attribute.type) if attribute.inferred else None


def name_fault(name: object) -> str:
    """What is wrong with an attribute name; empty when it is 1–128 characters and does not begin with ``$``."""
    if not isinstance(name, str):
        return f"An attribute name is a string, not {type(name).__name__}."
    if not 1 <= len(name) <= MAX_ATTRIBUTE_NAME:
        return f"An attribute name has 1 to {MAX_ATTRIBUTE_NAME} characters, not {len(name):,}."
    if name.startswith("$"):
        return "An attribute name must not begin with '$'."
    if _SURROGATE.search(name):
        return "An attribute name must be valid Unicode: it holds half of a surrogate pair."
    return ""


def decode_schema(raw: object) -> dict[str, AttributePatch]:
    """The schema of a request: attribute name to ``{"type", "is_searchable", "is_filterable"}``, each key optional.

    Raises:
        InvalidSchema: with the path of the fault, such as ``schema.year.type``.
    """
    if not isinstance(raw, Mapping):
        raise InvalidSchema("A schema is an object of attribute definitions.", path="schema")
    definitions = cast("Mapping[object, object]", raw)
    if len(definitions) > MAX_ATTRIBUTES:
        raise InvalidSchema(f"A namespace has at most {MAX_ATTRIBUTES} attributes.", path="schema")
    return {cast("str", name): _decode_definition(name, definition) for name, definition in definitions.items()}


def merge(current: Schema, patch: Mapping[str, AttributePatch]) -> Schema:
    """`current` with `patch` applied: new attributes are added, flags given replace, flags omitted stay.

    The first attribute that is flagged searchable switches no other off: those of `current` that are searched because
    none was flagged are flagged with it, unless `patch` says false of them.

    Applying a patch twice is the same as once; once an attribute is flagged, patches of different attributes commute.

    Raises:
        SchemaConflict: an attribute has another type, and is not an inferred ``int`` that may become ``float``.
        InvalidSchema: a new attribute has no type, a flag does not fit the type, or there are more than 256 attributes.
    """
    attributes = dict(current.attributes)
    if any(change.is_searchable for change in patch.values()):
        for name in current.searchable():
            attributes[name] = msgspec.structs.replace(attributes[name], is_searchable=True)
    for name, change in patch.items():
        attributes[name] = _merged(name, attributes.get(name), change)
    if len(attributes) > MAX_ATTRIBUTES:
        raise InvalidSchema(
            f"A namespace has at most {MAX_ATTRIBUTES} attributes; this schema would make it {len(attributes)}.",
            path="schema",
        )
    return Schema(attributes)


def _decode_definition(name: object, definition: object) -> AttributePatch:
    if fault := name_fault(name):
        raise InvalidSchema(fault, path=f"schema.{_shown(name)}")
    path = f"schema.{name}"
    if name == "id":
        raise InvalidSchema("The attribute `id` is the document's own and cannot be redefined.", path=path)
    if not isinstance(definition, Mapping):
        raise InvalidSchema(f"The definition of {name!r} is an object with a `type`.", path=path)
    entries = cast("Mapping[object, Any]", definition)
    for key in entries:
        if key not in _SHOWN_KEYS:
            raise InvalidSchema(f"Unknown key; a definition has {', '.join(_KEYS)}.", path=f"{path}.{_shown(key)}")
    kind = _decode_type(entries.get("type"), f"{path}.type")
    flags: dict[str, bool | None] = {}
    for key in _FLAGS:
        value = entries.get(key)
        if value is not None and not isinstance(value, bool):
            raise InvalidSchema(f"`{key}` is true or false.", path=f"{path}.{key}")
        flags[key] = value
    patch = AttributePatch(kind, **flags)
    if kind is not None:
        _check_flags(path, kind, patch)
    return patch


def _shown(key: object) -> str:
    """A key as an error may show it: short, and valid Unicode."""
    return str(key)[:MAX_ATTRIBUTE_NAME].encode(errors="replace").decode()


def _decode_type(value: object, path: str) -> AttributeType | None:
    if value is None:
        return None
    try:
        return AttributeType(cast("str", value))
    except ValueError:
        known = ", ".join(AttributeType)
        raise InvalidSchema(f"Unknown type; the types are {known}.", path=path) from None


def _check_flags(path: str, kind: AttributeType, patch: AttributePatch) -> None:
    if patch.is_searchable and kind.element is not AttributeType.STRING:
        raise InvalidSchema(f"Only string and []string are searchable, not {kind}.", path=f"{path}.is_searchable")
    if patch.is_filterable and kind is AttributeType.JSON:
        raise InvalidSchema("An attribute of type json cannot be filtered.", path=f"{path}.is_filterable")


def _merged(name: str, old: Attribute | None, change: AttributePatch) -> Attribute:
    path = f"schema.{name}"
    kind = change.type or (old.type if old else None)
    if kind is None and name == ROOT_ATTRIBUTE:
        kind = AttributeType.STRING
    if kind is None:
        raise InvalidSchema(f"The new attribute {name!r} needs a `type`.", path=f"{path}.type")
    if old is not None and kind is not old.type and kind is not widened(old):
        raise SchemaConflict(
            f"The attribute {name!r} is of type {old.type} and cannot become {kind}.", path=f"{path}.type"
        )
    if name == ROOT_ATTRIBUTE and kind is not AttributeType.STRING:
        raise InvalidSchema(f"The attribute {name!r} is always of type string, not {kind}.", path=f"{path}.type")
    _check_flags(path, kind, change)
    before = old or Attribute(kind)
    return Attribute(
        kind,
        is_searchable=before.is_searchable if change.is_searchable is None else change.is_searchable,
        is_filterable=name == ROOT_ATTRIBUTE
        or (before.is_filterable if change.is_filterable is None else change.is_filterable),
        inferred=change.type is None and before.inferred,
    )
