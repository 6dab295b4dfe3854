"""The planner: question and attributes in, sub-questions and queries out. It sees no document text."""

from __future__ import annotations

import msgspec

from engine.agent.claude.corpus_lines import corpus_lines
from engine.agent.claude.fence import one_line
from engine.agent.claude.queries import QueryReply, identity, usable_queries
from engine.agent.claude.question import question_block
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import AnswerShape, Corpus, Plan, PlannedQuery, Planner, SubQuestion
from engine.errors import ModelError
from engine.question.turn import Question

MAX_SUB_QUESTIONS = 6
MAX_QUERIES = 8
MAX_ENTITIES = 8
_SUB_QUESTION = 500
_ENTITY = 80
_CONTEXT = 50_000

SPEC = StepSpec(step="plan", max_tokens=4_000, cap_s=15.0, keep_s=25.0)


class SubQuestionReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to cover."""

    text: str
    entities: tuple[str, ...]


class PlanReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of the planning call."""

    sub_questions: tuple[SubQuestionReply, ...]
    queries: tuple[QueryReply, ...]
    shape: AnswerShape


class ClaudePlanner:
    """`Planner` on a model; its twin plans when the model cannot."""

    def __init__(self, turn: ModelTurn, twin: Planner) -> None:
        self._turn = turn
        self._twin = twin

    async def plan(self, question: Question, corpus: Corpus) -> Plan:
        self._turn.corpus = corpus
        fence = self._turn.fence
        user = (
            question_block(question, fence, context=_CONTEXT),
            fence.around("Collection", corpus_lines(corpus, fence)),
            f"Today is {corpus.today}. Step: plan",
        )
        try:
            reply = await self._turn.ask(SPEC, PlanReply, user)
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error)
            return await self._twin.plan(question, corpus)
        return self._checked(reply, question, corpus)

    def _checked(self, reply: PlanReply, question: Question, corpus: Corpus) -> Plan:
        """The plan within its limits; the client's own words are always searched, without a condition."""
        asked = question.message or question.request.objective
        sub_questions = tuple(
            SubQuestion(text=text, entities=_entities(sub_question.entities))
            for sub_question in reply.sub_questions[:MAX_SUB_QUESTIONS]
            if (text := one_line(sub_question.text)[:_SUB_QUESTION].strip())
        ) or (SubQuestion(one_line(asked)),)
        # A follow-up such as "and in 2022?" finds nothing by its own words; the sub-questions have the rest.
        own = PlannedQuery(one_line(asked)) if not question.message else PlannedQuery(sub_questions[0].text)
        planned, dropped = usable_queries(
            reply.queries,
            limit=MAX_QUERIES,
            sub_questions=len(sub_questions),
            executed=(),
            corpus=corpus,
        )
        self._turn.drop(dropped)
        rest = tuple(query for query in planned if identity(query) != identity(own))
        return Plan(sub_questions=sub_questions, queries=(own, *rest), shape=reply.shape)


def _entities(entities: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = (one_line(entity)[:_ENTITY].strip() for entity in entities)
    return tuple(dict.fromkeys(entity for entity in cleaned if entity))[:MAX_ENTITIES]
