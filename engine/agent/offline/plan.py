"""The plan without a model: the objective, its parts, and what the namespace's own values narrow."""

from __future__ import annotations

import re

from engine.agent.steps import Corpus, Plan, PlannedQuery, Question, SubQuestion


class OfflinePlanner:
    """Deterministic; reads the question and the value dictionary only."""

    async def plan(self, question: Question, corpus: Corpus) -> Plan:
        return self.plan_now(question, corpus)

    def plan_now(self, question: Question, corpus: Corpus) -> Plan:
        """As `plan`, for callers without an event loop."""
        objective = question.message or question.request.objective
        queries = [PlannedQuery(objective)]
        context = question.request.context
        if context.strip() != objective.strip():
            queries.append(PlannedQuery(f"{objective} {context[:400]}", weight=0.5))
        for held in corpus.values:
            for value, _ in held.values:
                if isinstance(value, str) and len(value) > 2 and _names(objective, value):
                    queries.append(PlannedQuery(objective, narrowing={held.attribute: value}))
        return Plan((SubQuestion(objective),), tuple(queries[:8]))


def _names(text: str, value: str) -> bool:
    name = value.split(" | ", maxsplit=1)[0]
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
