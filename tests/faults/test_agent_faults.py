"""Every fault of the model service in every step: the turn ends, the twin did the step, the answer says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.agent.drafts import AnswerDraft, Problem
from engine.agent.steps import Repairer, SoFar
from engine.llm.claude import ClaudeModel
from engine.settings import ModelSettings
from tests.fakes.messages_replies import Act, Answer, Cut, Raw, Received, Refuse, Reset
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of
from tests.unit.agent_claude.examples import CORPUS, MULTITURN, PASSAGES, Bench

SOON = {"retry-after-ms": "1"}
FAULTS: dict[str, Act] = {
    "401": Refuse(401, "authentication_error"),
    "402": Refuse(402, "billing_error"),
    "429": Refuse(429, "rate_limit_error", SOON),
    "429 with a long wait": Refuse(429, "rate_limit_error", {"retry-after": "120"}),
    "529": Refuse(529, "overloaded_error", SOON),
    "reset": Reset(),
    "cut": Cut(Answer({}), 50, "close"),
    "page": Raw(b"<html></html>", "text/html"),
    "empty object": Raw(b"{}"),
    "truncated": Answer('{"findings": [', stop_reason="max_tokens"),
    "refused": Answer("No.", stop_reason="refusal"),
    "another form": Answer({"hello": "world"}),
    "not JSON": Answer("Sure! Here is"),
}
STEPS = ["plan", "read", "clarify", "answer"]


async def turn(bench: Bench) -> AnswerDraft:
    steps = bench.steps
    plan = await steps.planner.plan(MULTITURN, CORPUS)
    evidence = await steps.reader.read(MULTITURN, plan, PASSAGES)
    await steps.clarifier.clarify(MULTITURN, plan, evidence)
    outcome = await steps.answerer.answer(MULTITURN, plan, evidence, SoFar(plan.queries))
    assert outcome.draft is not None
    return outcome.draft


def run(script: Any) -> tuple[AnswerDraft, Bench, list[Received]]:
    with FakeMessages(script) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        bench = Bench(model)
        draft = asyncio.run(turn(bench))
        model.close()
    return draft, bench, server.requests


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_in_one_step_costs_that_step_only(fault: str, step: str) -> None:
    def script(received: Received) -> Act:
        asked = step_of(received)
        return FAULTS[fault] if asked == step else Answer(honest(asked, received))

    draft, bench, requests = run(script)
    twins = STEPS[STEPS.index(step) :] if fault in ("401", "402") else [step]
    assert sorted(bench.twin.done) == sorted(twins)
    assert draft.findings
    assert draft.sentences
    assert (bench.steps.notice() is None) == (twins == ["clarify"])
    assert len(requests) <= 4 + 3


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_service_that_fails_all_the_time_gives_the_twins_answer(fault: str) -> None:
    draft, bench, requests = run(lambda _: FAULTS[fault])
    assert sorted(bench.twin.done) == sorted(STEPS)
    assert draft.findings[0].finding == "By the twin."
    notice = str(bench.steps.notice())
    assert notice.count("rules and extraction") == 1
    assert len(requests) <= 2 * len(STEPS)
    assert not any(word in notice for word in ("SDK", "401", "key"))


def test_without_faults_no_twin_is_asked() -> None:
    draft, bench, requests = run(lambda received: Answer(honest(step_of(received), received)))
    assert bench.twin.done == []
    assert [step_of(received) for received in requests] == STEPS
    assert [finding.document_id for finding in draft.findings] == ["gazette-1", "times-1"]
    assert draft.caveats == ()


def test_a_fault_in_the_repair_leaves_the_draft() -> None:
    async def repair(bench: Bench) -> tuple[AnswerDraft, AnswerDraft]:
        draft = await turn(bench)
        answerer = bench.steps.answerer
        assert isinstance(answerer, Repairer)
        return draft, await answerer.repair(MULTITURN, draft, [Problem("sentence", 0, "x")])

    def script(received: Received) -> Act:
        if step_of(received) == "repair":
            return FAULTS["529"]
        return Answer(honest(step_of(received), received))

    with FakeMessages(script) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        before, after = asyncio.run(repair(Bench(model)))
        model.close()
    assert before == after
    assert after.findings
