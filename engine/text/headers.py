"""Which values of a document name it, and the header that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

import msgspec

from engine.analysis.scripts import CJK, HANGUL
from engine.text.tokens import count_tokens

HEADER_TOKENS = 40
"""The longest header; it is indexed in front of a passage and not counted in the passage's own tokens."""

_SEPARATOR = " · "

_QUALIFIER = re.compile(r"\s*[(\[（][^()\[\]（）]*[)\]）]\s*$")
_CLOSING = (")", "]", "）")
_LETTERS = re.compile(rf"[^\W\d_]{{2}}|[{CJK}{HANGUL}]")
_OPAQUE = re.compile(
    r"(?:[a-z][a-z0-9+.\-]*://|www\.|mailto:|data:|urn:)\S+"
    r"|\S+@\S+\.\S+"
    r"|(?=\S*\d)[0-9a-f\-]{12,}"
    r"|(?=\S*\d)(?=\S*[a-z])[a-z0-9+=]{20,}",
    re.IGNORECASE,
)


class ValueKind(Enum):
    """What a string value is to a reader."""

    TEXT = "text"
    TITLE = "title"
    OPAQUE = "opaque"


class Field(msgspec.Struct, frozen=True):
    """One string of a document: an attribute's value, or an element of a list as ``name[index]``."""

    attribute: str
    value: str
    kind: ValueKind


def kind_of(value: str, header_characters: int) -> ValueKind:
    """Whether `value` reads as running text, as a title, name or label, or as no words at all.

    Looks at the value alone, never at the attribute's name. Opaque are addresses, uuids, hashes, dates and numbers:
    a single string without a word in it, or made mostly of digits.

    >>> [kind_of(v, 120).value for v in ("Annual report", "2023-09-28T12:00:00Z", "https://example.org/a")]
    ['title', 'opaque', 'opaque']
    """
    if len(value) > 4 * header_characters:
        return ValueKind.TEXT
    return _kind_of_short(value, header_characters)


@lru_cache(maxsize=4096)
def _kind_of_short(value: str, header_characters: int) -> ValueKind:
    stripped = value.strip()
    if _OPAQUE.fullmatch(stripped):
        return ValueKind.OPAQUE
    if len(stripped) > header_characters or "\n" in stripped:
        return ValueKind.TEXT
    digits = sum(map(str.isdigit, stripped))
    if not _LETTERS.search(stripped) or digits * 5 > 3 * sum(map(str.isalnum, stripped)):
        return ValueKind.OPAQUE
    return ValueKind.TITLE


def headline(titles: Sequence[Field]) -> list[Field]:
    """The titles that fit into a header, in order, each text once, scalars before elements of lists."""
    chosen: list[Field] = []
    seen: set[str] = set()
    room = HEADER_TOKENS
    for field in sorted(titles, key=lambda field: field.attribute.endswith("]")):
        text = field.value.strip()
        tokens = count_tokens(_SEPARATOR + text)
        if text in seen or tokens > room:
            continue
        seen.add(text)
        chosen.append(field)
        room -= tokens
    return chosen


def joined(titles: Sequence[Field]) -> str:
    """The header that `titles` make; empty for none."""
    return _SEPARATOR.join([field.value.strip() for field in titles])


def split_header(header: str) -> list[str]:
    """The titles that `joined` made `header` of.

    >>> split_header("Annual report · Finance")
    ['Annual report', 'Finance']
    """
    return header.split(_SEPARATOR) if header else []


def without_qualifier(title: str) -> str:
    """`title` less what stands in brackets at its end, which tells namesakes apart and is left out in running text.

    >>> without_qualifier("Mercury (planet)"), without_qualifier("(I)")
    ('Mercury', '(I)')
    """
    # Hardly a title ends in a bracket, and looking for the one that opens takes long.
    return _QUALIFIER.sub("", title) or title if title.rstrip().endswith(_CLOSING) else title
