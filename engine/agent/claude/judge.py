"""The judge: evidence in, whether it suffices and what to look for next out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.agent.claude.hygiene import clean
from engine.agent.claude.queries import QueryReply, usable_queries
from engine.agent.claude.question import NumberedBlocks, query_lines, question_lines, sub_question_lines
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import Evidence, Judge, Judgement, Plan, PlannedQuery, Question
from engine.errors import ModelError

MAX_QUERIES = 6
MAX_MISSING = 4
MAX_EVIDENCE = 40
_MISSING = 200
_CONTEXT = 4_000

SPEC = StepSpec(step="judge", prompt="judge", max_tokens=3_000, cap_s=12.0, keep_s=20.0)


class JudgeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of the judging call."""

    sufficient: bool
    answerable: bool
    missing: tuple[str, ...]
    queries: tuple[QueryReply, ...]


class ClaudeJudge:
    """`Judge` on a model; its twin judges when the model cannot."""

    def __init__(self, turn: ModelTurn, twin: Judge) -> None:
        self._turn = turn
        self._twin = twin

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        fence, blocks = self._turn.fence(), NumberedBlocks()
        asked = (
            *question_lines(question, fence, context=_CONTEXT),
            *sub_question_lines(plan, fence),
            *query_lines(executed, fence),
            *self._attribute_lines(),
        )
        shown = tuple(blocks.evidence_lines(evidence[:MAX_EVIDENCE], fence)) or ("No evidence was found.",)
        user = (fence.around("Question", asked), fence.around("Evidence", shown), "Judge the evidence.")
        try:
            reply = await self._turn.ask(SPEC, JudgeReply, user)
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error)
            return await self._twin.judge(question, plan, evidence, executed)
        return self._checked(reply, plan, executed)

    def _attribute_lines(self) -> tuple[str, ...]:
        if self._turn.corpus is None:
            return ()
        names = ", ".join(self._turn.corpus.schema.filterable())
        return (f"Attributes that conditions may name: {names}",) if names else ()

    def _checked(self, reply: JudgeReply, plan: Plan, executed: Sequence[PlannedQuery]) -> Judgement:
        queries = usable_queries(
            () if reply.sufficient else reply.queries,
            limit=MAX_QUERIES,
            sub_questions=len(plan.sub_questions),
            executed=executed,
            corpus=self._turn.corpus,
        )
        missing = (clean(text, ())[:_MISSING].strip() for text in reply.missing)
        return Judgement(
            sufficient=reply.sufficient,
            missing=() if reply.sufficient else tuple(text for text in missing if text)[:MAX_MISSING],
            queries=queries,
            answerable=reply.sufficient or reply.answerable,
        )
