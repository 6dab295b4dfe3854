"""Whether the evidence answers, without a model: how much of the question's content it covers."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.steps import Evidence, Judgement, Plan, PlannedQuery, Question

ANSWERABLE = 3.0
"""Relevance of the best passage below which the corpus does not answer."""


class OfflineJudge:
    """One round is all that rules can use."""

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        best = max((e.relevance for e in evidence), default=0.0)
        return Judgement(sufficient=True, answerable=best >= ANSWERABLE)
