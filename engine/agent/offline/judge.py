"""Whether the evidence answers, without a model: how much of the question's content it covers.

The decision is a logistic model of four shares (`Coverage`): rare terms and names weigh most, and a long question is
never covered as fully as a short one, so its length counts in its favour. Its weights were fitted on half of the
questions of four public collections, with the unanswerable ones of MultiHop-RAG and questions put to the wrong
collection as negatives; `benchmarks.answers` prints how it does on the other half, and the curve of refusals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import log1p

from engine.agent.offline.coverage import Coverage, coverage_of, terms_in, weights_of
from engine.agent.offline.followup import asked
from engine.agent.steps import Evidence, Judgement, Plan, PlannedQuery, Question

PASSAGE, SENTENCE, NAMES, LENGTH, BIAS = 10.08, 8.31, 3.01, 2.10, -14.3
ANSWERABLE = 0.15
"""Log-odds from which the evidence is taken to answer."""
COVERED = 0.25
"""Share of a sub-question's content that the best passage must hold for it to count as covered."""


class OfflineJudge:
    """One round is all that rules can use."""

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        return await asyncio.to_thread(judged, question, plan, evidence)


def judged(question: Question, plan: Plan, evidence: Sequence[Evidence]) -> Judgement:
    """The judgement; it never asks for more queries, since rules would look for nothing that the plan did not."""
    ranked = sorted(evidence, key=lambda e: -e.passage.score)
    coverage = coverage_of(asked(question), [e.passage for e in ranked], question.rarity)
    if answerability(coverage) < ANSWERABLE:
        return Judgement(sufficient=True, answerable=False)
    missing = (*_absent(coverage), *_uncovered(question, plan, evidence))
    return Judgement(sufficient=not missing, missing=missing)


def answerability(coverage: Coverage) -> float:
    """Log-odds that passages with this coverage answer; larger is surer."""
    return (
        PASSAGE * coverage.passage
        + SENTENCE * coverage.sentence
        + NAMES * coverage.names
        + LENGTH * log1p(coverage.terms)
        + BIAS
    )


def _absent(coverage: Coverage) -> list[str]:
    return [name for name in coverage.absent if any(c.isalpha() for c in name)][:3]


def _uncovered(question: Question, plan: Plan, evidence: Sequence[Evidence]) -> list[str]:
    """Sub-questions of which no passage covers much, where there are several."""
    if len(plan.sub_questions) < 2:
        return []
    held = [terms_in(f"{e.passage.passage.header} {e.passage.passage.text}") for e in evidence]
    found: list[str] = []
    for part in plan.sub_questions:
        weights = weights_of(part.text, question.rarity, held)
        total = sum(weights.values())
        best = max((sum(w for t, w in weights.items() if t in terms) for terms in held), default=0.0)
        if total > 0 and best < COVERED * total:
            found.append(part.text)
    return found[:2]
