from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from engine.agent.answerer import JudgeThenWrite
from engine.agent.blocks import to_reading
from engine.agent.budget import Budget
from engine.agent.loop import Turn
from engine.agent.offline.agent import OfflineAgent
from engine.agent.state import TurnState, fitting
from engine.agent.status import describe
from engine.agent.steps import Corpus, Evidence, Judgement, Plan, PlannedQuery, Steps, SubQuestion
from engine.embedding.protocol import Embedder
from engine.errors import InvalidFilter
from engine.model.document import JsonValue, Passage
from engine.model.observer import SilentObserver
from engine.question.turn import Question
from engine.retrieval.query import Ranked
from engine.settings import BudgetSettings
from tests.embedders import HashingEmbedder
from tests.unit.agent.examples_offline import asked, corpus, narrowed, passage, ranked

TUNNEL = "The engineer closed the northern tunnel of Pellam because of water in the cable shaft."
QUESTION = "Who closed the northern tunnel of Pellam?"


class Shelf:
    """A `Retrieval` over a few passages: every query brings up all of them."""

    def __init__(self, *passages: Passage, documents: int | None = None) -> None:
        self.queries: list[PlannedQuery] = []
        self.passages = passages
        self._documents = len(passages) if documents is None else documents

    def retrieve(self, query: PlannedQuery, k: int) -> Ranked:
        self.queries.append(query)
        if query.narrowing == {"unknown": 1}:
            raise InvalidFilter("no such attribute")
        return ranked(*self.passages[:k])

    def retrieve_all(self, queries: Sequence[PlannedQuery], k: int) -> list[Ranked]:
        return [self.retrieve(query, k) for query in queries]

    @property
    def waits(self) -> bool:
        return False

    def titled(self, text: str, k: int) -> Ranked:
        return ranked(*self.passages[:k])

    def documents(self, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        return {p.document_id: {"id": p.document_id, "text": p.text} for p in self.passages if p.document_id in ids}

    def corpus(self) -> Corpus:
        return msgspec.structs.replace(corpus(), documents=self._documents)

    def rarity(self, text: str) -> Mapping[str, float]:
        return {}


class FixedPlan:
    """A planner and a judge that want the same queries round after round."""

    def __init__(self, *queries: PlannedQuery, more: Sequence[PlannedQuery] = ()) -> None:
        self.queries, self.more, self.rounds = queries, more, 0

    async def plan(self, question: Question, corpus: Corpus) -> Plan:
        return Plan((SubQuestion(QUESTION),), self.queries)

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        self.rounds += 1
        return Judgement(sufficient=False, queries=tuple(self.more))


def offline() -> Steps:
    embedder: Embedder = HashingEmbedder()
    return OfflineAgent(embedder).steps()


def with_plan(plan: FixedPlan) -> Steps:
    steps = offline()
    assert isinstance(steps.answerer, JudgeThenWrite)
    return msgspec.structs.replace(steps, planner=plan, answerer=JudgeThenWrite(plan, steps.answerer.synthesizer))


def run(
    shelf: Shelf, steps: Steps | None = None, state: TurnState | None = None, **budget: Any
) -> tuple[TurnState, list[str]]:
    """One turn to its end: its state, and the status messages."""
    held = state or TurnState(asked(QUESTION), may_ask=False)

    async def all_events() -> list[str]:
        turn = Turn(steps or offline(), shelf, Budget(BudgetSettings(**budget)), asyncio.to_thread, SilentObserver())
        return [event.message async for event in turn.run(held)]

    return held, asyncio.run(all_events())


def test_an_answer_cites_what_stands_in_the_documents() -> None:
    state, messages = run(Shelf(passage(1, TUNNEL)))
    assert state.result is not None
    assert [result.excerpts for result in state.result.results] == [(TUNNEL,)]
    assert "[1]" in state.result.synthesis
    assert f"Searching for “{QUESTION}”" in messages
    assert "Reading 1 passage of 1 document" in messages


def test_where_there_are_no_documents_no_step_is_asked() -> None:
    plan, shelf = FixedPlan(PlannedQuery("x")), Shelf(documents=0)
    state, messages = run(shelf, with_plan(plan))
    assert state.result is not None
    assert state.result.results == ()
    assert state.result.synthesis.startswith("Not found")
    assert (shelf.queries, plan.rounds, len(messages)) == ([], 0, 1)


def test_what_the_documents_do_not_answer_is_not_found() -> None:
    state, _ = run(Shelf(passage(1, "Bread is baked at four in the morning in the mill of Arden.")))
    assert state.result is not None
    assert state.result.results == ()
    assert state.result.synthesis.startswith("Not found")


def test_no_query_runs_twice() -> None:
    again = PlannedQuery("Northern  TUNNEL")
    plan = FixedPlan(PlannedQuery("northern tunnel"), again, more=[again, PlannedQuery("cable shaft")])
    shelf = Shelf(passage(1, TUNNEL))
    run(shelf, with_plan(plan))
    assert [query.text for query in shelf.queries] == ["northern tunnel", "cable shaft"]


def test_a_judge_that_always_wants_more_is_stopped_by_rounds() -> None:
    class Insatiable(FixedPlan):
        async def judge(self, *given: Any) -> Judgement:
            self.more = [PlannedQuery(f"tunnel {self.rounds}")]
            return await super().judge(*given)

    class Endless(Shelf):
        def retrieve(self, query: PlannedQuery, k: int) -> Ranked:
            self.queries.append(query)
            return ranked(passage(len(self.queries), TUNNEL, f"d{len(self.queries)}"))

    plan, shelf = Insatiable(PlannedQuery("tunnel")), Endless(passage(1, TUNNEL))
    run(shelf, with_plan(plan), rounds=3)
    assert len(shelf.queries) == 3


def test_a_round_that_brings_up_nothing_new_reads_nothing_and_ends_the_search() -> None:
    class Repeating(Shelf):
        def retrieve(self, query: PlannedQuery, k: int) -> Ranked:
            found = super().retrieve(query, k)
            return found if len(self.queries) == 1 else ranked(self.passages[0])

    plan = FixedPlan(PlannedQuery("tunnel"), more=[PlannedQuery("shaft")])
    shelf = Repeating(*(passage(n, TUNNEL, f"d{n}") for n in range(1, 40)))
    state, messages = run(shelf, with_plan(plan))
    assert [query.text for query in shelf.queries] == ["tunnel", "shaft"]
    assert sum(message.startswith("Reading") for message in messages) == 1
    assert len(state.read) == 24


def test_queries_beyond_the_budget_do_not_run() -> None:
    shelf = Shelf(passage(1, TUNNEL))
    run(shelf, with_plan(FixedPlan(*(PlannedQuery(f"tunnel {n}") for n in range(30)))), queries=20)
    assert len(shelf.queries) == 20


def test_a_narrowing_that_cannot_be_used_does_not_cost_its_query() -> None:
    shelf = Shelf(passage(1, TUNNEL))
    state, _ = run(shelf, with_plan(FixedPlan(narrowed("tunnel", unknown=1))))
    assert [query.narrowing for query in shelf.queries][-1] is None
    assert {"unknown": 1} in [query.narrowing for query in shelf.queries]
    assert state.gathering.passages


def test_past_the_soft_deadline_what_is_there_is_answered_and_said_to_be_incomplete() -> None:
    plan = FixedPlan(PlannedQuery("tunnel"), more=[PlannedQuery("shaft")])
    shelf = Shelf(passage(1, TUNNEL))
    state, _ = run(shelf, with_plan(plan), soft_seconds=0.0)
    assert len(shelf.queries) == 1
    assert state.result is not None
    assert state.result.results
    assert "time limit" in state.result.synthesis


def test_documents_count_as_scanned_once() -> None:
    state, _ = run(Shelf(passage(1, TUNNEL, "a"), passage(2, TUNNEL + " It is wet.", "a"), passage(3, "Cats.", "b")))
    assert state.gathering.scanned == {"a", "b"}


def test_a_step_that_fails_raises_to_the_caller() -> None:
    class Broken(FixedPlan):
        async def plan(self, question: Question, corpus: Corpus) -> Plan:
            raise InvalidFilter("broken")

    with pytest.raises(InvalidFilter):
        run(Shelf(passage(1, TUNNEL)), with_plan(Broken()))


def test_a_turn_closed_at_any_of_its_events_ends_there() -> None:
    async def closed_after(count: int) -> TurnState:
        state = TurnState(asked(QUESTION), may_ask=False)
        shelf, budget = Shelf(passage(1, TUNNEL)), Budget(BudgetSettings())
        turn = Turn(offline(), shelf, budget, asyncio.to_thread, SilentObserver())
        events = turn.run(state)
        for _ in range(count):
            await anext(events)
        await events.aclose()
        return state

    _, messages = run(Shelf(passage(1, TUNNEL)))
    for count in range(1, len(messages)):
        assert asyncio.run(closed_after(count)).result is None


def earlier(label: int, text: str) -> tuple[int, Evidence]:
    held = to_reading(passage(label, text), 1.0, (0,), {})
    return label, Evidence(held, (held.blocks[0].id,), 9.0, (0,))


def test_evidence_of_an_earlier_turn_counts_by_what_it_says_to_the_new_question() -> None:
    before = dict([earlier(1, TUNNEL), earlier(2, "Bread is baked at four in the morning in the mill of Arden.")])
    kept = fitting(before, Plan((SubQuestion(QUESTION),), ()), asked(QUESTION))
    assert list(kept) == [1]
    assert kept[1].relevance <= 9.0
    assert fitting({}, Plan((), ()), asked(QUESTION)) == {}


def test_a_follow_up_does_not_cite_what_only_an_earlier_question_needed() -> None:
    stale = dict([earlier(2, "Bread is baked at four in the morning in the mill of Arden.")])
    state = TurnState(asked(QUESTION, message=QUESTION), may_ask=False, evidence=stale)
    state, _ = run(Shelf(passage(1, TUNNEL)), state=state)
    assert state.result is not None
    assert [result.id for result in state.result.results] == ["d1"]


@pytest.mark.parametrize(
    ("narrowing", "said"),
    [
        ({"paper": "Gazette"}, "paper = Gazette"),
        ({"paper": {"$in": ["Gazette", "Beacon"]}}, "paper in Gazette, Beacon"),
        ({"$and": [{"paper": "Gazette"}, {"year": {"$gte": 2020}}]}, "paper = Gazette and year ≥ 2020"),
        ({"$or": [{"a": 1}, {"$not": {"b": 2}}]}, "a = 1 or not b = 2"),
    ],
)
def test_a_status_says_where_is_searched(narrowing: dict[str, object], said: str) -> None:
    assert describe(PlannedQuery("tunnel", narrowing=narrowing)) == f"Searching for “tunnel” in {said}"


def test_a_long_query_is_cut_in_its_status_only() -> None:
    assert len(describe(PlannedQuery("tunnel " * 100))) < 150
