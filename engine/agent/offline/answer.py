"""The offline answerer: what filters settle is settled first, lists are listed, all else is judged and then written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from engine.agent.answerer import JudgeThenWrite
from engine.agent.drafts import AnswerDraft
from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import Table
from engine.agent.offline.constraints import Settled, settled
from engine.agent.offline.judge import OfflineJudge
from engine.agent.offline.listing import listed, told
from engine.agent.steps import Evidence, Judge, Judgement, Outcome, Plan, SoFar, Synthesizer
from engine.agent.workers import InThread
from engine.question.terms import SOFT
from engine.question.turn import Question

RELATED = 0.35
"""Share of what any passage holds of the words of earlier turns, from which a message is taken to go on about them."""


class SettleThenAnswer(JudgeThenWrite):
    """`JudgeThenWrite` for a question whose constraints are settled."""

    def __init__(self, judge: Judge, synthesizer: Synthesizer, run: InThread = asyncio.to_thread) -> None:
        super().__init__(judge, synthesizer)
        self._run = run

    async def answer(self, question: Question, plan: Plan, evidence: Sequence[Evidence], so_far: SoFar) -> Outcome:
        question = await self._run(on_its_own, question, evidence)
        held = await self._run(settled, question, plan, evidence, so_far.executed)
        likeness = self.judge.likeness if isinstance(self.judge, OfflineJudge) else None
        if draft := await self._run(_looked_up, held, likeness):
            return Outcome(Judgement(sufficient=True), draft)
        # Whether it is answered is judged with every word: a time that documents have proves little of the subject.
        judgement = await self.judge.judge(question, plan, held.evidence, so_far.executed)
        if not judgement.answerable or not held.evidence:
            return Outcome(judgement)
        return Outcome(judgement, await self.synthesizer.synthesize(held.question, plan, held.evidence, judgement))


def on_its_own(question: Question, evidence: Sequence[Evidence]) -> Question:
    """`question` without words of earlier turns, where what says most of its latest message says nothing of them."""
    terms = question.terms.terms
    carried = [n for n, term in enumerate(terms) if term.is_carried]
    own = [n for n, term in enumerate(terms) if not term.is_carried]
    if not carried or all(terms[n].share <= SOFT for n in own) or not evidence:
        return question
    table = Table(question.terms, [e.passage.passage for e in evidence])
    held = table.wholes[:, own] @ table.weights[own]
    before = table.wholes[:, carried] @ table.weights[carried]
    if held.max() == 0 or before[held >= held.max()].max() >= RELATED * before.max():
        return question
    return msgspec.structs.replace(question, is_alone=True)


def _looked_up(held: Settled, likeness: Likeness | None) -> AnswerDraft | None:
    """What attributes and titles alone answer."""
    return told(held, likeness) or listed(held)
