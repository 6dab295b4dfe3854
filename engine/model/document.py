"""Documents and their passages as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

JsonValue: TypeAlias = "str | int | float | bool | None | list[JsonValue] | dict[str, JsonValue]"
DocumentBody: TypeAlias = Mapping[str, JsonValue]

ROOT_ATTRIBUTE = "root_document_id"
"""The attribute by which a child names its root; always filterable."""


class Span(msgspec.Struct, frozen=True):
    """A stretch of one string, ``[start, end)`` in code points."""

    start: int
    end: int


class PassageDraft(msgspec.Struct, frozen=True):
    """A passage before it is stored.

    Attributes:
        attribute: the attribute's name; an element of a list is ``name[index]``.
        text: ``value[start:end]`` of that attribute, at most 256 tokens.
        header: the short values of the document (title and the like), put in front for indexing only; may be empty.
    """

    attribute: str
    start: int
    end: int
    text: str
    header: str


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A stored passage: the unit that is indexed, ranked and cited.

    Attributes:
        label: its number in both indexes, never reused within the namespace.
        document_id: the document it stands in.
        attribute: as in `PassageDraft`.
        text: word for word ``document[attribute][start:end]``.
    """

    label: int
    document_id: str
    attribute: str
    start: int
    end: int
    text: str
    header: str
