"""The planner: question and attributes in, sub-questions and queries out. It sees no document text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.agent.claude.fence import Fence, one_line
from engine.agent.claude.queries import QueryReply, identity, usable_queries
from engine.agent.claude.question import question_lines
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import AnswerShape, Corpus, Plan, PlannedQuery, Planner, Question, SubQuestion
from engine.errors import ModelError

MAX_SUB_QUESTIONS = 6
MAX_QUERIES = 8
MAX_ENTITIES = 8
_SUB_QUESTION = 500
_ENTITY = 80
_VALUES_SHOWN = 30
_ATTRIBUTES_SHOWN = 40
_CONTEXT = 50_000

SPEC = StepSpec(step="plan", prompt="plan", max_tokens=4_000, cap_s=15.0, keep_s=25.0)


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
        fence = self._turn.fence()
        lines = (*question_lines(question, fence, context=_CONTEXT), *_corpus_lines(corpus, fence))
        user = (fence.around("Question and collection", lines), f"Today is {corpus.today}. Plan the search.")
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
        planned = usable_queries(
            reply.queries,
            limit=MAX_QUERIES,
            sub_questions=len(sub_questions),
            executed=(),
            corpus=corpus,
        )
        rest = tuple(query for query in planned if identity(query) != identity(own))
        return Plan(sub_questions=sub_questions, queries=(own, *rest), shape=reply.shape)


def _entities(entities: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = (one_line(entity)[:_ENTITY].strip() for entity in entities)
    return tuple(dict.fromkeys(entity for entity in cleaned if entity))[:MAX_ENTITIES]


def _corpus_lines(corpus: Corpus, fence: Fence) -> Iterator[str]:
    yield f"The collection has {corpus.documents} documents. Attributes that conditions may name:"
    known = {values.attribute: values for values in corpus.values}
    for name in corpus.schema.filterable()[:_ATTRIBUTES_SHOWN]:
        kind = corpus.schema.attributes[name].type.value
        values = known[name].values[:_VALUES_SHOWN] if name in known else ()
        shown = ", ".join(f'"{fence.line(str(value), 80)}"' for value, _ in values)
        yield f"{fence.line(name, 128)} ({kind})" + (f": {shown}" if shown else "")
