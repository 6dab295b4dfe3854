"""What one turn of a search works on, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from engine.agent.evidence.coverage import Coverage
from engine.agent.gathering import Gathering
from engine.agent.steps import ClarificationDraft, Evidence, Plan
from engine.agent.titles import Link
from engine.model.explain import ExplainedQuery, Explanation
from engine.model.search import Result
from engine.question.turn import Question

LEAST_FITTING = 1.5
"""Relevance, of 10, that evidence of an earlier turn must have for this one."""
MAX_COUNTED_CONTEXT = 4_000
"""Characters of the context whose words are looked up in the index."""


@dataclass(slots=True)
class TurnResult:
    """How a turn ended: an answer, or a clarification."""

    synthesis: str = ""
    results: tuple[Result, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    clarification: ClarificationDraft | None = None


@dataclass(slots=True)
class TurnState:
    """What a turn works on. `evidence` and `gathering.executed` begin with what earlier turns left."""

    question: Question
    may_ask: bool
    gathering: Gathering = field(default_factory=Gathering)
    evidence: dict[int, Evidence] = field(default_factory=dict[int, Evidence])
    read: set[int] = field(default_factory=set[int])
    links: Sequence[Link] = ()
    absent: dict[str, bool] = field(default_factory=dict[str, bool])
    dropped: list[str] = field(default_factory=list[str])
    queries: list[ExplainedQuery] = field(default_factory=list[ExplainedQuery])
    rounds: int = 0
    out_of_time: bool = False
    result: TurnResult | None = None
    explanation: Explanation | None = None


def everything_asked(question: Question) -> str:
    """Objective, messages and the beginning of the context, for looking up how rare their words are."""
    return f"{question.text} {said_by_client(question)}"


def said_by_client(question: Question) -> str:
    """As `everything_asked`, without what earlier answers put into a follow-up: their documents may be gone."""
    said = [question.request.objective, question.message, *(turn.message for turn in question.turns)]
    return " ".join([*said, question.request.context[:MAX_COUNTED_CONTEXT]])


def fitting(earlier: Mapping[int, Evidence], plan: Plan, question: Question) -> dict[int, Evidence]:
    """Evidence of earlier turns as far as it bears on this plan: what answered one question is noise in another.

    Its relevance sinks to what its best sentence covers now. What this turn's queries bring up again is read anew.
    """
    if not earlier:
        return {}
    coverage = Coverage(question, plan, [e.passage.passage for e in earlier.values()])
    fitted = {
        label: msgspec.structs.replace(e, relevance=min(e.relevance, 10.0 * coverage.best(number)))
        for number, (label, e) in enumerate(earlier.items())
    }
    return {label: e for label, e in fitted.items() if e.relevance >= LEAST_FITTING}


def ordered(state: TurnState) -> list[Evidence]:
    """Evidence, most relevant first; ties to the better ranked passage."""
    return sorted(state.evidence.values(), key=lambda e: (-e.relevance, -e.passage.score, e.passage.passage.label))
