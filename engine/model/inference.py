"""The types of attributes that no schema declares, read off the documents' values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from engine.errors import InvalidDocument
from engine.model.document import ROOT_ATTRIBUTE
from engine.model.schema import (
    MAX_ATTRIBUTE_NAME,
    MAX_ATTRIBUTES,
    Attribute,
    AttributeType,
    Schema,
    name_fault,
    widened,
)

_SCALARS: dict[type, AttributeType] = {
    str: AttributeType.STRING,
    bool: AttributeType.BOOL,
    int: AttributeType.INT,
    float: AttributeType.FLOAT,
}
_LISTS: dict[frozenset[type], AttributeType] = {
    frozenset({str}): AttributeType.STRINGS,
    frozenset({bool}): AttributeType.BOOLS,
    frozenset({int}): AttributeType.INTS,
    frozenset({float}): AttributeType.FLOATS,
    frozenset({int, float}): AttributeType.FLOATS,
}


def infer_type(value: object) -> AttributeType | None:
    """The type of a JSON value; None where ``null`` and ``[]`` wait for a better one.

    Text stays a string, whatever it looks like. Mixed lists, lists with nulls, lists of lists and objects are ``json``.
    """
    if value is None:
        return None
    if type(value) is list:
        elements = cast("list[object]", value)
        return _LISTS.get(frozenset(map(type, elements)), AttributeType.JSON) if elements else None
    return _SCALARS.get(type(value), AttributeType.JSON)


def infer_schema(current: Schema, documents: Sequence[Mapping[str, object]], *, start: int = 0) -> Schema:
    """`current` with the attributes of `documents` that it does not name yet, and inferred ints widened by floats.

    The first value that is neither null nor ``[]`` decides: a batch gives the same schema as its documents one by one.

    Args:
        start: number of the first document, for paths.

    Raises:
        InvalidDocument: an attribute name breaks a rule, or there are more than 256 attributes.
    """
    attributes = dict(current.attributes)
    # Names that need no further look: most values of most batches end here.
    settled = {name for name, attribute in attributes.items() if widened(attribute) is None} | {"id"}
    for number, document in enumerate(documents, start):
        for name, value in document.items():
            if name in settled:
                continue
            known = attributes.get(name)
            if known is None:
                known = _first(name, value, f"documents[{number}]", len(attributes))
                if known is None:
                    continue
            elif infer_type(value) is widened(known):
                known = Attribute(
                    cast("AttributeType", widened(known)), known.is_searchable, known.is_filterable, inferred=True
                )
            attributes[name] = known
            if widened(known) is None:
                settled.add(name)
    return Schema(attributes) if attributes != current.attributes else current


def _first(name: object, value: object, path: str, count: int) -> Attribute | None:
    if fault := name_fault(name):
        shown = str(name)[:MAX_ATTRIBUTE_NAME].encode(errors="replace").decode()
        raise InvalidDocument(fault, path=f"{path}.{shown}")
    if name == ROOT_ATTRIBUTE:
        return None if value is None else Attribute(AttributeType.STRING, is_filterable=True)
    kind = infer_type(value)
    if kind is None:
        return None
    if count >= MAX_ATTRIBUTES:
        raise InvalidDocument(f"A namespace has at most {MAX_ATTRIBUTES} attributes.", path=f"{path}.{name}")
    return Attribute(kind, inferred=True)
