"""Values of the agent's steps, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.agent.blocks import to_reading
from engine.agent.steps import Evidence, Plan, PlannedQuery, ReadingPassage, SubQuestion
from engine.model.document import Passage
from engine.model.search import SearchRequest
from engine.question.turn import Question
from engine.text.passages import blocks


def passage(
    label: int,
    text: str,
    *,
    document_id: str | None = None,
    header: str = "",
    score: float | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> ReadingPassage:
    """A passage that begins its document's `body`; scores fall with the label unless given."""
    held = Passage(
        label=label,
        document_id=document_id or f"d{label}",
        attribute="body",
        start=0,
        end=len(text),
        text=text,
        header=header,
    )
    return to_reading(held, 1.0 / label if score is None else score, (0,), attributes or {})


def evidence(
    held: ReadingPassage, *, blocks_at: Sequence[int] | None = None, relevance: float = 8.0, parts: Sequence[int] = (0,)
) -> Evidence:
    """All blocks of a passage as evidence, or those at the given places."""
    ids = [block.id for n, block in enumerate(held.blocks) if blocks_at is None or n in blocks_at]
    return Evidence(held, tuple(ids), relevance, tuple(parts))


def question(
    objective: str,
    *,
    context: str = "Some background.",
    multiturn: bool = False,
    rarity: Mapping[str, float] | None = None,
    filterable: Sequence[str] = (),
) -> Question:
    request = SearchRequest(objective=objective, context=context, multiturn=multiturn)
    return Question(request, rarity=rarity or {}, filterable=tuple(filterable))


def plan(*parts: str, shape: Any = "fact") -> Plan:
    return Plan(tuple(SubQuestion(part) for part in parts), (PlannedQuery(parts[0]),), shape)


def count_blocks(text: str) -> int:
    return len(blocks(text))
