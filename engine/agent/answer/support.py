"""Excerpts: what a finding cites, copied out of the live documents word for word.

A draft names blocks; this module copies their text out of the documents as they are now. A finding without an excerpt
is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from engine.agent.drafts import AnswerDraft
from engine.agent.steps import Block, ReadingPassage
from engine.model.document import JsonValue
from engine.model.search import MAX_EXCERPT, MAX_EXCERPTS

_ELEMENT = re.compile(r"^(.*)\[(\d+)\]$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Supported:
    """A finding of a draft with its excerpts, each verbatim in one attribute value of the document.

    Attributes:
        around: what else was shown with them (passages, headers, attribute values): a name may come from there, because
            an excerpt often says "he" where its passage says who.
        values: headers and attribute values alone.
    """

    finding: str
    document_id: str
    excerpts: tuple[str, ...]
    around: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def attribute_value(document: Mapping[str, JsonValue], attribute: str) -> str | None:
    """The text that a block's attribute names, a list's element included; None when it is not there.

    Numbers and truth values are text as JSON writes them.
    """
    value = document.get(attribute)
    if value is None and (element := _ELEMENT.match(attribute)):
        held, position = document.get(element[1]), int(element[2])
        value = held[position] if isinstance(held, list) and position < len(held) else None
    if isinstance(value, (bool, int, float)):
        return msgspec.json.encode(value).decode()
    return value if isinstance(value, str) else None


def excerpts_of(
    block_ids: Sequence[str],
    blocks: Mapping[str, tuple[ReadingPassage, Block]],
    document: Mapping[str, JsonValue],
) -> tuple[str, ...]:
    """1–5 verbatim excerpts, in reading order; blocks that follow each other become one; none when none stands.

    Args:
        block_ids: unknown ids are ignored.
        document: as it is now; a block whose text is no longer at its place is ignored.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for block_id in dict.fromkeys(block_ids):
        held = blocks.get(block_id)
        if held is None:
            continue
        passage, block = held
        attribute = block.attribute or passage.passage.attribute
        value = attribute_value(document, attribute)
        end = block.start + len(block.text)
        if value is not None and block.text.strip() and value[block.start : end] == block.text:
            spans.setdefault(attribute, []).append((block.start, end))
    found: list[str] = []
    for attribute, places in spans.items():
        value = attribute_value(document, attribute) or ""
        found += [value[start:end] for start, end in _joined(sorted(places), value)]
    return tuple(text[:MAX_EXCERPT].strip() for text in dict.fromkeys(found))[:MAX_EXCERPTS]


def _joined(places: Sequence[tuple[int, int]], value: str) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in places:
        if joined and not value[joined[-1][1] : start].strip() and end - joined[-1][0] <= MAX_EXCERPT:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def support(
    draft: AnswerDraft,
    blocks: Mapping[str, tuple[ReadingPassage, Block]],
    documents: Mapping[str, Mapping[str, JsonValue]],
) -> list[Supported | None]:
    """Each finding with its excerpts; None where its document is gone or none of its blocks stands in it."""
    out: list[Supported | None] = []
    for finding in draft.findings:
        document = documents.get(finding.document_id)
        own = {
            block_id: blocks[block_id]
            for block_id in finding.block_ids
            if block_id in blocks and blocks[block_id][0].passage.document_id == finding.document_id
        }
        excerpts = excerpts_of(tuple(own), own, document) if document is not None else ()
        around = tuple(dict.fromkeys(text for passage, _ in own.values() for text in _around(passage)))
        values = tuple(dict.fromkeys(text for passage, _ in own.values() for text in _values(passage)))
        out.append(Supported(finding.finding, finding.document_id, excerpts, around, values) if excerpts else None)
    return out


def _around(passage: ReadingPassage) -> list[str]:
    return [
        passage.passage.text,
        passage.before,
        *_values(passage),
        *(str(value) for value in passage.attributes.values()),
    ]


def _values(passage: ReadingPassage) -> list[str]:
    """The header, and the attribute values with their names."""
    facts = [f"{block.attribute}: {block.text}" for block in passage.facts]
    return [passage.passage.header, *(facts or [f"{name}: {value}" for name, value in passage.attributes.items()])]
