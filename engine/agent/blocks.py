"""Passages as the steps see them: cut into blocks with ids, and back from ids to text."""

from __future__ import annotations

from collections.abc import Mapping

from engine.agent.steps import Block, ReadingPassage
from engine.model.document import ROOT_ATTRIBUTE, JsonValue, Passage
from engine.text.passages import blocks as block_spans

MAX_SHOWN_VALUE = 120


def to_reading(
    passage: Passage, score: float, queries: tuple[int, ...], attributes: Mapping[str, JsonValue]
) -> ReadingPassage:
    """The passage with its blocks, in reading order."""
    spans = block_spans(passage.text)
    return ReadingPassage(
        passage=passage,
        blocks=tuple(
            Block(f"{passage.label}.{number}", passage.start + span.start, passage.text[span.start : span.end])
            for number, span in enumerate(spans)
        ),
        score=score,
        queries=queries,
        attributes=attributes,
    )


def shown_attributes(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The short values of a document, such as title, source and date, that tell a reader what it is."""
    return {
        name: value
        for name, value in document.items()
        if name not in _IDS and isinstance(value, (str, int, float)) and len(str(value)) <= MAX_SHOWN_VALUE
    }


_IDS = ("id", ROOT_ATTRIBUTE)
