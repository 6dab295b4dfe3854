"""Documents into passages: the units that are indexed, ranked and cited.

Which values become passages:

- **Running text** (longer than ``header_characters``, or of several lines) is cut into passages (`packing`).
- **Titles, names, labels** join the header that is indexed in front of every passage of the document (`headers`) and
  yield no passage of their own while the document has running text: such a passage would repeat the header, and by
  its shortness take a rank from the text that answers. Their words stay findable through the header.
  Titles that do not fit into the header yield passages.
- In a document **without running text** its longest title, and every other at least half as long, yields a passage,
  with the remaining titles as header: a document of a name and a line of description is cited by either.
- **Opaque values** (addresses, uuids, dates, numbers) yield a passage without header, so that only a query for the
  value itself brings them up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from engine.model.document import PassageDraft
from engine.settings import PassageSettings
from engine.text.blocks import blocks
from engine.text.headers import Field, ValueKind, headline, joined, kind_of
from engine.text.packing import pack

__all__ = ["blocks", "passages"]


def passages(
    document: Mapping[str, object],
    searchable: Sequence[str],
    settings: PassageSettings,
    *,
    overlap: int = 0,
) -> list[PassageDraft]:
    """The passages of one document, by attribute in the order of `searchable`, then by position.

    ``text == value[start:end]``; a passage has at most ``settings.max_tokens`` tokens, never spans two attributes or
    two elements of a list, and neither begins nor ends with white space. Every word of a searchable string stands in
    a passage or in the header. Blank values, other types and attributes that the document lacks yield nothing.

    Args:
        document: as uploaded.
        searchable: names of attributes; only these are read, for the header too.
        settings: the limits.
        overlap: tokens that a passage may repeat of the one before, in whole sentences.
    """
    fields = list(_fields(document, searchable, settings.header_characters))
    titles = headline([field for field in fields if field.kind is ValueKind.TITLE])
    header = joined(titles)
    silent = _without_passage(fields, titles)
    drafts: list[PassageDraft] = []
    for field in fields:
        attribute, value, kind = field.attribute, field.value, field.kind
        if attribute in silent:
            continue
        above = header
        if kind is ValueKind.OPAQUE:
            above = ""
        elif kind is ValueKind.TITLE:
            above = joined([title for title in titles if title.value.strip() != value.strip()])
        for start, end in pack(value, settings.max_tokens, overlap):
            drafts.append(PassageDraft(attribute, start, end, value[start:end], above))
    return drafts


def _without_passage(fields: Sequence[Field], titles: Sequence[Field]) -> frozenset[str]:
    """The attributes that are found through the header alone."""
    if not titles:
        return frozenset()
    in_header = {title.value.strip() for title in titles}
    repeated = [field for field in fields if field.kind is ValueKind.TITLE and field.value.strip() in in_header]
    if any(field.kind is ValueKind.TEXT for field in fields):
        return frozenset([field.attribute for field in repeated])
    longest = max(len(title.value.strip()) for title in titles)
    speaking = {title.attribute for title in titles if 2 * len(title.value.strip()) >= longest}
    return frozenset([field.attribute for field in repeated if field.attribute not in speaking])


def _fields(document: Mapping[str, object], searchable: Sequence[str], header_characters: int) -> Iterator[Field]:
    for name in searchable:
        value = document.get(name)
        if isinstance(value, str):
            if value and not value.isspace():
                yield Field(name, value, kind_of(value, header_characters))
        elif isinstance(value, list):
            for index, element in enumerate(cast("list[object]", value)):
                if isinstance(element, str) and element and not element.isspace():
                    yield Field(f"{name}[{index}]", element, kind_of(element, header_characters))
