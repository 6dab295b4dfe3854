"""An answerer out of a judge and a synthesizer, for steps that decide first and write then."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.steps import Evidence, Judge, Outcome, Plan, SoFar, Synthesizer
from engine.question.turn import Question


class JudgeThenWrite:
    """`Answerer` that asks `judge`, and `synthesizer` unless there is more to look for."""

    def __init__(self, judge: Judge, synthesizer: Synthesizer) -> None:
        self.judge = judge
        self.synthesizer = synthesizer

    async def answer(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome:
        judgement = await self.judge.judge(question, plan, evidence, so_far.executed)
        goes_on = not judgement.sufficient and judgement.queries and so_far.rounds_left > 0
        if goes_on or not judgement.answerable or not evidence:
            return Outcome(judgement)
        return Outcome(judgement, await self.synthesizer.synthesize(question, plan, evidence, judgement))
