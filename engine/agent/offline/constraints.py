"""What a question names and filters stand for: such words say no more what is asked, but which documents come first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec

from engine.agent.offline.narrowing import alternatives
from engine.agent.steps import Constraint, Evidence, Plan, PlannedQuery
from engine.analysis.language import language
from engine.question.turn import Question

BEHIND = 0.5
"""Factor on the relevance of a document for each constraint that it does not satisfy."""
OLDER = 0.9
"""Factor on it for each newer document, where the question asks for what holds now."""


class Settled(msgspec.Struct, frozen=True):
    """A question whose constraints are settled.

    Attributes:
        question: without the times that are settled; values stay, since documents hold them.
        rest: without any of them: what is asked of the documents that satisfy them.
        evidence: what satisfies them first.
        constraints: those that some document satisfies.
        fitting: ids of the documents that satisfy all of them; empty where there are none.
    """

    question: Question
    rest: Question
    evidence: Sequence[Evidence]
    constraints: tuple[Constraint, ...] = ()
    fitting: frozenset[str] = frozenset()


def settled(question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]) -> Settled:
    """`question` without what documents are known to satisfy, and its evidence in the order of how much they do."""
    kept: list[tuple[Constraint, frozenset[str]]] = []
    for constraint in plan.constraints:
        fitting = _satisfying(constraint, evidence, executed)
        if fitting:
            kept.append((constraint, fitting))
    words = tuple(word for constraint, _ in kept for word in constraint.words)
    times = tuple(word for constraint, _ in kept if constraint.is_date for word in constraint.words)
    factors: dict[str, float] = {}
    for found in evidence:
        document = found.passage.passage.document_id
        factors[document] = BEHIND ** sum(document not in fitting for _, fitting in kept)
    if language(question.terms.code).pattern("current").search(question.text):
        dated = {document: day for document, day in _days(evidence).items() if factors[document] == 1}
        for place, document in enumerate(sorted(dated, key=dated.__getitem__, reverse=True)):
            factors[document] = OLDER**place
    every = frozenset[str].intersection(*(fitting for _, fitting in kept)) if kept else frozenset[str]()
    return Settled(
        msgspec.structs.replace(question, settled=times) if times else question,
        msgspec.structs.replace(question, settled=words) if words else question,
        sorted((_weighed(e, factors) for e in evidence), key=lambda e: -e.relevance),
        tuple(constraint for constraint, _ in kept),
        every,
    )


def day_of(values: Sequence[object]) -> date | None:
    """The latest of values that are dates; None where none is."""
    found: list[date] = []
    for value in values:
        if isinstance(value, str) and value[:4].isdecimal() and value[4:5] == "-":
            try:
                found.append(date.fromisoformat(value[:10]))
            except ValueError:
                continue
    return max(found, default=None)


def _days(evidence: Sequence[Evidence]) -> dict[str, date]:
    """Document → its day."""
    days: dict[str, date] = {}
    for found in evidence:
        if day := day_of(list(found.passage.attributes.values())):
            days[found.passage.passage.document_id] = day
    return days


def _satisfying(
    constraint: Constraint, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
) -> frozenset[str]:
    """Documents that a query under the constraint brought up."""
    wanted = [narrowing for one in constraint.narrowings for narrowing in alternatives(one)]
    under = {n for n, query in enumerate(executed) if any(c in wanted for c in alternatives(query.narrowing))}
    return frozenset(e.passage.passage.document_id for e in evidence if under.intersection(e.passage.queries))


def _weighed(found: Evidence, factors: dict[str, float]) -> Evidence:
    factor = factors[found.passage.passage.document_id]
    if factor == 1:
        return found
    passage = msgspec.structs.replace(found.passage, score=found.passage.score * factor)
    return msgspec.structs.replace(found, relevance=found.relevance * factor, passage=passage)
