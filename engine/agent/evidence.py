"""The verbatim gate: what leaves a search stands in a live document, word for word.

A draft names blocks; this module copies their text out of the documents as they are now. Findings without an excerpt
are dropped; findings and sentences whose numbers, quotations or names do not stand in what they cite are reported as
problems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.agent.names import strange_names
from engine.agent.steps import AnswerDraft, Block, Problem, ReadingPassage
from engine.model.document import JsonValue
from engine.model.search import MAX_EXCERPT, MAX_EXCERPTS

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„]{3,}?)[”\"»“]")
_ELEMENT = re.compile(r"^(.*)\[(\d+)\]$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Supported:
    """A finding of a draft with its excerpts, each verbatim in one attribute value of the document.

    Attributes:
        around: what else was read with them (passages, headers, attribute values): a name may come from there, because
            an excerpt often says "he" where its passage says who.
    """

    finding: str
    document_id: str
    excerpts: tuple[str, ...]
    around: tuple[str, ...] = ()


def attribute_value(document: Mapping[str, JsonValue], attribute: str) -> str | None:
    """The text that a passage's attribute names, a list's element included; None when it is not there."""
    value = document.get(attribute)
    if value is None and (element := _ELEMENT.match(attribute)):
        held, position = document.get(element[1]), int(element[2])
        value = held[position] if isinstance(held, list) and position < len(held) else None
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
        value = attribute_value(document, passage.passage.attribute)
        end = block.start + len(block.text)
        if value is not None and block.text.strip() and value[block.start : end] == block.text:
            spans.setdefault(passage.passage.attribute, []).append((block.start, end))
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
        out.append(Supported(finding.finding, finding.document_id, excerpts, around) if excerpts else None)
    return out


def _around(passage: ReadingPassage) -> list[str]:
    return [passage.passage.text, passage.passage.header, *(str(value) for value in passage.attributes.values())]


def problems_of(draft: AnswerDraft, supported: Sequence[Supported | None], asked: Sequence[str] = ()) -> list[Problem]:
    """What in the draft's own words does not stand in the excerpts it cites.

    Args:
        asked: the client's own texts; a name may come from there too.
    """
    problems: list[Problem] = []
    for index, held in enumerate(supported):
        if held is not None and (reason := _unsupported(held.finding, [held], asked)):
            problems.append(Problem("finding", index, reason))
    for index, sentence in enumerate(draft.sentences):
        cited = [held for n in sentence.findings if 0 <= n < len(supported) and (held := supported[n]) is not None]
        if not cited:
            problems.append(Problem("sentence", index, "none of the findings it cites has an excerpt"))
        elif reason := _unsupported(sentence.text, cited, asked):
            problems.append(Problem("sentence", index, reason))
    return problems


def _unsupported(text: str, cited: Sequence[Supported], asked: Sequence[str]) -> str:
    excerpts = [excerpt for held in cited for excerpt in held.excerpts]
    if reason := unsupported(text, excerpts):
        return reason
    strange = strange_names(text, [*excerpts, *(around for held in cited for around in held.around), *asked])
    return f"the name {strange[0]} stands nowhere in what it cites" if strange else ""


def unsupported(text: str, excerpts: Sequence[str]) -> str:
    """Why `text` says more than `excerpts`: a number or a quotation that stands in none; empty when none does.

    >>> unsupported("It rose by 12 % in 2023.", ["Sales rose by 12 % last year."])
    'the number 2023 stands in none of its excerpts'
    """
    held = " ".join(_folded(excerpt) for excerpt in excerpts)
    numbers = {number.strip(".,:") for number in _NUMBER.findall(held)}
    for number in _NUMBER.findall(text):
        if number.strip(".,:") not in numbers:
            return f"the number {number} stands in none of its excerpts"
    for quoted in _QUOTED.findall(text):
        if _folded(quoted).strip(" .,;:!?") not in held:
            return f"the quotation “{quoted}” stands in none of its excerpts"
    return ""


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").replace("‘", "'").split()).casefold()
