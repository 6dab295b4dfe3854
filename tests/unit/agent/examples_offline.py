"""Values that the tests of the offline steps share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.agent.steps import AttributeValues, Corpus, PlannedQuery
from engine.model.document import Passage
from engine.model.schema import Attribute, AttributeType, Schema
from engine.model.search import SearchRequest
from engine.question.turn import Question, Turn
from engine.retrieval.query import Ranked

DAY = 86_400_000_000


def attributes(**values: tuple[str, Mapping[object, int]]) -> tuple[AttributeValues, ...]:
    """``name=(type, {value: documents})``."""
    return tuple(
        AttributeValues(name, kind, tuple(held.items()))  # pyright: ignore[reportArgumentType]
        for name, (kind, held) in values.items()
    )


def corpus(today: str = "2024-06-15", **values: tuple[str, Mapping[object, int]]) -> Corpus:
    """A namespace with these filterable attributes."""
    schema = Schema({name: Attribute(AttributeType(kind), is_filterable=True) for name, (kind, _) in values.items()})
    return Corpus(schema, attributes(**values), 100, today)


def papers() -> Corpus:
    """Two newspapers, desks that are common words, writers, and days around 1 October 2023."""
    first = 1_696_118_400_000_000
    return corpus(
        newspaper=("string", {"Harbour Gazette": 40, "The Beacon": 30, "BBN | World Affairs": 20, "BBN | Sport": 10}),
        desk=("string", {"business": 30, "sport": 20}),
        writer=("string", {"Ada Marsh": 3, "Ben Okri": 2}),
        printed=("datetime", {first: 1, first + 30 * DAY: 1}),
    )


def asked(objective: str, context: str = "", message: str = "", turns: Sequence[Turn] = ()) -> Question:
    """A question as a step gets it."""
    return Question(SearchRequest(objective=objective, context=context or objective), tuple(turns), message)


def passage(label: int, text: str, document: str = "", header: str = "") -> Passage:
    """A passage of the attribute ``text``."""
    return Passage(
        label=label,
        document_id=document or f"d{label}",
        attribute="text",
        start=0,
        end=len(text),
        text=text,
        header=header,
    )


def ranked(*passages: Passage) -> Ranked:
    """A ranking with falling scores."""
    scores = np.linspace(1.0, 0.5, len(passages), dtype=np.float32) if passages else np.empty(0, np.float32)
    none = np.zeros(len(passages), np.float32)
    return Ranked(passages, scores, none, none, frozenset(p.document_id for p in passages))


def narrowed(text: str, **narrowing: object) -> PlannedQuery:
    """A query under equalities."""
    return PlannedQuery(text, narrowing=narrowing)
