"""What names a document to a person, and where an excerpt stands in it. No attribute's name is special."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from engine import AttributeType, Definition

TITLE_CHARACTERS = 120
AROUND = 60
"""Characters of the document shown before an excerpt, and after it."""

_WORDS = re.compile(r"[^\W\d_]{2}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.\-]*:\S+|\S+@\S+|[\w.\-]*/\S*", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_OWN = ("id", "root_document_id")


class Placed(NamedTuple):
    """An excerpt with what stands around it; blank where it begins or ends the value, or was not found."""

    before: str
    excerpt: str
    after: str


def title_of(document: Mapping[str, Any]) -> str:
    """The first value that reads as a title, or one behind it that begins with it; empty where there is none.

    A title is one short line of words, no address.

    >>> title_of({"id": "7", "url": "https://example.org/a", "name": "Harbour report", "body": "…"})
    'Harbour report'
    >>> title_of({"id": "7", "title": "Guide", "heading": "Guide › Ferries", "body": "…"})
    'Guide › Ferries'
    """
    titles = list(_titles(document))
    return next((title for title in titles[1:] if title.startswith(titles[0])), titles[0]) if titles else ""


def _titles(document: Mapping[str, Any]) -> Iterator[str]:
    for name, value in document.items():
        if name in _OWN or not isinstance(value, str):
            continue
        text = value.strip()
        is_line = 0 < len(text) <= TITLE_CHARACTERS and "\n" not in text
        if is_line and _WORDS.search(text) and not _ADDRESS.fullmatch(text) and not _DATE.match(text):
            yield text


def date_of(document: Mapping[str, Any], schema: Mapping[str, Definition]) -> str:
    """The first date, of an attribute of type datetime if one has a value; empty where there is none.

    >>> date_of({"id": "7", "published": "2024-04-02T10:00:00Z"}, {})
    '2024-04-02'
    """
    dated = {name for name, definition in schema.items() if definition.type is AttributeType.DATETIME}
    for named in (True, False):
        for name, value in document.items():
            if (name in dated) is named and name not in _OWN and (day := _day(value, is_date=named)):
                return day
    return ""


def placed(excerpt: str, document: Mapping[str, Any] | None) -> Placed:
    """Where `excerpt` stands in `document`.

    >>> placed("sails at nine", {"body": "The ferry sails at nine and at five."})
    Placed(before='The ferry ', excerpt='sails at nine', after=' and at five.')
    """
    for value in _strings(document or {}):
        at = value.find(excerpt)
        if at >= 0:
            end = at + len(excerpt)
            return Placed(_tail(value[:at]), excerpt, _head(value[end:]))
    return Placed("", excerpt, "")


def _day(value: object, *, is_date: bool) -> str:
    if isinstance(value, str) and _DATE.match(value):
        return value[:10]
    if is_date and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        except (OverflowError, OSError, ValueError):
            return ""
    return ""


def _strings(document: Mapping[str, Any]) -> Iterator[str]:
    for value in document.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (element for element in cast("list[object]", value) if isinstance(element, str))


def _tail(text: str) -> str:
    """The end of what stands before, from the beginning of a word."""
    line = text.rsplit("\n", 1)[-1]
    if len(line) <= AROUND:
        return line
    return "…" + line[-AROUND:].partition(" ")[2]


def _head(text: str) -> str:
    """The beginning of what stands after, to the end of a word."""
    line = text.split("\n", 1)[0]
    if len(line) <= AROUND:
        return line
    return line[:AROUND].rpartition(" ")[0] + "…"
