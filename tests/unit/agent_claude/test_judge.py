from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.agent.claude.judge import MAX_QUERIES
from engine.agent.steps import Judgement, PlannedQuery
from engine.errors import ModelUnavailable
from engine.llm.scripted import ScriptedModel
from tests.unit.agent_claude.examples import CORPUS, EVIDENCE, PLAN, QUESTION, Bench
from tests.unit.agent_claude.test_plan import CONDITION, query, reply

RUN = (PlannedQuery("Pellam bridge cost"), PlannedQuery("toll"))


def verdict(*queries: dict[str, Any], sufficient: bool = False, answerable: bool = True, missing: Any = ()) -> Any:
    return {"sufficient": sufficient, "answerable": answerable, "missing": list(missing), "queries": list(queries)}


def judge(answer: Any, *, planned: bool = True) -> tuple[Judgement, Bench, ScriptedModel]:
    model = ScriptedModel([*([reply()] if planned else []), answer])
    bench = Bench(model)

    async def turn() -> Judgement:
        if planned:
            await bench.steps.planner.plan(QUESTION, CORPUS)
        return await bench.steps.judge.judge(QUESTION, PLAN, EVIDENCE, RUN)

    return asyncio.run(turn()), bench, model


def test_a_judgement_has_what_is_missing_and_what_to_look_for() -> None:
    made, _, _ = judge(verdict(query("budget 1986", CONDITION), missing=["the cost in 1986"]))
    narrowing = {"newspaper": {"$in": ["Harbour Gazette"]}}
    assert made == Judgement(False, ("the cost in 1986",), (PlannedQuery("budget 1986", 0, narrowing),), True)


def test_a_query_that_was_run_is_not_run_again() -> None:
    made, _, _ = judge(verdict(query("COST pellam Bridge"), query("toll"), query("new"), query("new")))
    assert [planned.text for planned in made.queries] == ["new"]


def test_sufficient_evidence_ends_the_search_whatever_else_is_said() -> None:
    made, _, _ = judge(verdict(query("more"), sufficient=True, answerable=False, missing=["x"]))
    assert made == Judgement(sufficient=True)


def test_the_number_of_queries_is_limited() -> None:
    made, _, _ = judge(verdict(*(query(f"q{n}") for n in range(1_000))))
    assert len(made.queries) == MAX_QUERIES


def test_conditions_need_a_schema_to_be_checked_against() -> None:
    made, _, _ = judge(verdict(query("x", CONDITION)), planned=False)
    assert made.queries == (PlannedQuery("x", 0),)


def test_what_is_missing_is_plain_text() -> None:
    made, _, _ = judge(verdict(missing=["<b>cost</b> at https://evil.example/x", "", "a", "b", "c", "d"]))
    assert made.missing == ("cost at", "a", "b", "c")


def test_the_judge_sees_the_evidence_and_the_queries_run() -> None:
    _, _, model = judge(verdict())
    shown = "\n".join(model.calls[1].user)
    for part in ("It cost 12 million crowns", "newspaper: Coastal Times", "Query run: toll", "Sub-question 2:"):
        assert part in shown
    assert "Pellam has a cheese market." not in shown


@pytest.mark.parametrize("planned", [True, False])
def test_the_twin_judges_when_the_model_cannot(planned: bool) -> None:
    made, bench, _ = judge(ModelUnavailable("x"), planned=planned)
    assert made.sufficient
    assert bench.twin.done == ["judge"]
