"""What every set of steps promises the loop; an implementation gets the suite by subclassing."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from engine.agent.drafts import AnswerDraft
from engine.agent.steps import Evidence, Plan, PlannedQuery, SoFar, Steps
from engine.filters.check import parse_filter
from engine.model.search import SearchRequest
from engine.question.turn import Question
from tests.unit.agent_claude.examples import (
    CORPUS,
    EVIDENCE,
    FOLLOW_UP,
    MULTITURN,
    PASSAGES,
    QUESTION,
    SCHEMA,
)

ODD = Question(SearchRequest(objective="?!", context="\u202e\x00 …"))
HUGE = Question(SearchRequest(objective="why " * 500, context="because " * 6_000))
QUESTIONS = {"a question": QUESTION, "a follow-up": FOLLOW_UP, "odd": ODD, "huge": HUGE}


class StepsContract(ABC):
    """`opened` gives the steps of one turn."""

    @abstractmethod
    def opened(self) -> AbstractContextManager[Steps]: ...

    @pytest.fixture
    def steps(self) -> Iterator[Steps]:
        with self.opened() as steps:
            yield steps

    @pytest.fixture
    def plan(self, steps: Steps) -> Plan:
        return asyncio.run(steps.planner.plan(QUESTION, CORPUS))

    @pytest.mark.parametrize("question", list(QUESTIONS.values()), ids=list(QUESTIONS))
    def test_a_plan_has_something_to_look_for_and_only_filters_that_can_be_used(
        self, steps: Steps, question: Question
    ) -> None:
        plan = asyncio.run(steps.planner.plan(question, CORPUS))
        assert plan.sub_questions
        assert 1 <= len(plan.queries) <= 20
        check_queries(plan.queries, len(plan.sub_questions))
        assert any(query.narrowing is None for query in plan.queries)

    def test_evidence_is_of_the_passages_given_and_of_their_blocks(self, steps: Steps, plan: Plan) -> None:
        evidence = asyncio.run(steps.reader.read(QUESTION, plan, PASSAGES))
        assert len({item.passage.passage.label for item in evidence}) == len(evidence)
        for item in evidence:
            assert item.passage in PASSAGES
            assert 1 <= len(item.block_ids) <= 5
            assert set(item.block_ids) <= {block.id for block in item.passage.blocks}
            assert 0 <= item.relevance <= 10
            assert set(item.sub_questions) <= set(range(len(plan.sub_questions)))

    def test_no_passages_are_no_evidence(self, steps: Steps, plan: Plan) -> None:
        assert asyncio.run(steps.reader.read(QUESTION, plan, ())) == []

    @pytest.mark.parametrize("evidence", [(), EVIDENCE], ids=["none", "some"])
    def test_what_is_looked_for_next_was_not_run(
        self, steps: Steps, plan: Plan, evidence: tuple[Evidence, ...]
    ) -> None:
        outcome = asyncio.run(steps.answerer.answer(QUESTION, plan, evidence, SoFar(plan.queries, rounds_left=2)))
        check_queries(outcome.judgement.queries, len(plan.sub_questions))
        run = {(query.text.casefold(), repr(query.narrowing)) for query in plan.queries}
        assert not run & {(query.text.casefold(), repr(query.narrowing)) for query in outcome.judgement.queries}
        assert not (outcome.judgement.sufficient and outcome.judgement.queries)

    @pytest.mark.parametrize("rounds_left", [0, 2])
    def test_a_draft_rests_on_the_evidence(self, steps: Steps, plan: Plan, rounds_left: int) -> None:
        so_far = SoFar(plan.queries, rounds_left=rounds_left)
        draft = asyncio.run(steps.answerer.answer(QUESTION, plan, EVIDENCE, so_far)).draft or AnswerDraft((), ())
        blocks = {block.id: item.passage.passage.document_id for item in EVIDENCE for block in item.passage.blocks}
        for finding in draft.findings:
            assert finding.finding.strip()
            assert finding.block_ids
            assert {blocks[block_id] for block_id in finding.block_ids} == {finding.document_id}
        for sentence in draft.sentences:
            assert sentence.text.strip()
            assert set(sentence.findings) <= set(range(len(draft.findings)))

    def test_without_evidence_there_are_no_findings(self, steps: Steps, plan: Plan) -> None:
        outcome = asyncio.run(steps.answerer.answer(QUESTION, plan, (), SoFar(plan.queries)))
        assert outcome.draft is None or outcome.draft.findings == ()

    def test_a_question_back_has_two_to_five_options_and_a_narrowing_for_each(self, steps: Steps, plan: Plan) -> None:
        asked = asyncio.run(steps.clarifier.clarify(MULTITURN, plan, EVIDENCE))
        if asked is not None:
            assert 2 <= len(asked.clarification.options) <= 5
            assert set(asked.narrowing) == set(asked.clarification.options)
            for narrowing in asked.narrowing.values():
                assert narrowing is None or parse_filter(narrowing, SCHEMA) is not None

    def test_a_notice_is_one_sentence_or_nothing(self, steps: Steps, plan: Plan) -> None:
        notice = steps.notice()
        assert notice is None or notice.endswith(".")


def check_queries(queries: Any, sub_questions: int) -> None:
    """Each names something, serves a known sub-question and narrows only by what the schema allows."""
    for query in queries:
        assert isinstance(query, PlannedQuery)
        assert query.text.strip()
        assert -1 <= query.sub_question < sub_questions
        assert query.weight > 0
        if query.narrowing is not None:
            parse_filter(query.narrowing, SCHEMA)
