from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.agent.claude import answer, check, clarify, plan, read
from engine.agent.claude.prompt_files import SECTIONS, prompt, rules
from engine.agent.claude.turn import MAX_STRIKES, MIN_CALL_S, FallbackCounters, ModelTurn, StepSpec
from engine.agent.steps import Outcome
from engine.errors import ModelMisconfigured, ModelOutputInvalid, ModelRefused, ModelUnavailable
from engine.llm.protocol import StructuredCall, TokenUsage
from engine.llm.scripted import ScriptedModel
from engine.model.observer import SilentObserver
from engine.settings import BudgetSettings, ModelSettings
from tests.fakes.obedient import EMPTY
from tests.fakes.prefix_cache import CHARACTERS_A_TOKEN, LEAST_CACHED
from tests.unit.agent_claude.examples import CORPUS, EVIDENCE, LAST, PASSAGES, PLAN, QUESTION, Bench, Budget
from tests.unit.agent_claude.test_read import MANY

SPECS = [plan.SPEC, read.SPEC, answer.SPEC, answer.REPAIR, check.SPEC, clarify.SPEC]


async def whole_turn(bench: Bench) -> Outcome:
    """All steps once, as a loop asks them."""
    await bench.steps.planner.plan(QUESTION, CORPUS)
    evidence = await bench.steps.reader.read(QUESTION, PLAN, PASSAGES)
    return await bench.steps.answerer.answer(QUESTION, PLAN, evidence or EVIDENCE, LAST)


def steps_asked(model: ScriptedModel) -> list[str]:
    return [call.step for call in model.calls]


def test_tokens_of_replies_and_of_failures_are_spent() -> None:
    model = ScriptedModel([ModelRefused("x", tokens=70), {"passages": []}], usage=TokenUsage(10, 5, 3, 2))
    bench = Bench(model, budget=Budget(tokens=400_000))

    async def two() -> None:
        await bench.steps.planner.plan(QUESTION, CORPUS)
        await bench.steps.reader.read(QUESTION, PLAN, PASSAGES)

    asyncio.run(two())
    assert bench.budget.tokens == 400_000 - 70 - (10 + 5 + 2)


def test_a_turn_without_tokens_makes_no_call_and_says_so() -> None:
    model = ScriptedModel([])
    bench = Bench(model, budget=Budget(tokens=1_000))
    asyncio.run(whole_turn(bench))
    assert model.calls == []
    assert bench.twin.done == ["plan", "read", "answer"]
    assert str(bench.steps.notice()).startswith("The token budget of this session is used up")
    assert set(bench.agent.fallbacks.snapshot()) == {(step, "tokens") for step in bench.twin.done}


def test_parallel_batches_cannot_together_pass_the_cap() -> None:
    def expensive(call: StructuredCall) -> Any:
        return {"passages": []}

    model = ScriptedModel(expensive, delay_s=0.05)
    bench = Bench(model, budget=Budget(tokens=read.SPEC.keep_tokens + 3 * 5_500))
    asyncio.run(bench.steps.reader.read(QUESTION, PLAN, MANY[:64]))
    assert 1 <= len(model.calls) <= 3


def test_early_steps_leave_tokens_for_the_answer() -> None:
    bench = Bench(ScriptedModel([{**EMPTY, "answerable": False}]))
    bench.budget.tokens = plan.SPEC.keep_tokens
    asyncio.run(whole_turn(bench))
    assert bench.twin.done == ["plan", "read"]


@pytest.mark.parametrize("seconds", [-3.0, 0.0, MIN_CALL_S])
def test_a_turn_without_time_makes_no_call_and_says_so(seconds: float) -> None:
    model = ScriptedModel([])
    bench = Bench(model, budget=Budget(seconds=seconds))
    asyncio.run(whole_turn(bench))
    assert model.calls == []
    assert str(bench.steps.notice()).startswith("Time was short")


@pytest.mark.parametrize("spec", SPECS, ids=[spec.step for spec in SPECS])
def test_a_call_has_its_cap_or_what_is_left_after_the_share_of_later_steps(spec: StepSpec) -> None:
    model = ScriptedModel(lambda _: {"passages": []})
    for seconds in (1_000.0, spec.keep_s + 4.0):
        turn = ModelTurn(model, Budget(seconds=seconds), FallbackCounters(SilentObserver()), lambda: "token")
        asyncio.run(turn.ask(spec, read.ReadReply, ("?",)))
    assert [call.deadline_s for call in model.calls] == [spec.cap_s, 4.0]


def test_the_longest_calls_of_a_round_leave_time_for_the_answer() -> None:
    deadline = BudgetSettings().hard_seconds
    assert plan.SPEC.keep_s >= answer.SPEC.keep_s + 20
    assert min(spec.keep_s for spec in (plan.SPEC, read.SPEC, clarify.SPEC)) >= 20
    assert answer.SPEC.cap_s < deadline


def test_a_model_that_two_steps_found_unavailable_is_left_alone_for_the_turn() -> None:
    model = ScriptedModel(lambda _: ModelUnavailable("x"))
    bench = Bench(model)
    asyncio.run(whole_turn(bench))
    assert steps_asked(model) == ["plan", "read"]
    assert len(steps_asked(model)) == MAX_STRIKES
    assert bench.agent.fallbacks.snapshot() == {
        ("plan", "model_unavailable"): 1,
        ("read", "model_unavailable"): 1,
        ("answer", "down"): 1,
    }


def test_a_misconfigured_model_is_left_alone_at_once() -> None:
    model = ScriptedModel(lambda _: ModelMisconfigured("x"))
    bench = Bench(model)
    asyncio.run(whole_turn(bench))
    assert steps_asked(model) == ["plan"]
    assert bench.twin.done == ["plan", "read", "answer"]
    assert str(bench.steps.notice()).startswith("The language model was not available for a part of this search")


def test_refused_or_wrong_replies_do_not_stop_later_steps() -> None:
    model = ScriptedModel(lambda call: ModelRefused("x") if call.step != "read" else ModelOutputInvalid("x"))
    asyncio.run(whole_turn(Bench(model)))
    assert steps_asked(model) == ["plan", "read", "answer"]


def test_the_next_turn_asks_the_model_again() -> None:
    model = ScriptedModel(lambda _: ModelMisconfigured("x"))
    bench = Bench(model)
    asyncio.run(whole_turn(bench))
    asyncio.run(bench.agent.steps(Budget()).planner.plan(QUESTION, CORPUS))
    assert steps_asked(model) == ["plan", "plan"]


def test_an_answer_without_a_fallback_has_no_notice() -> None:
    replies: dict[str, Any] = {
        "plan": {"sub_questions": [], "queries": [], "shape": "fact"},
        "read": {"passages": []},
        "answer": {**EMPTY, "answerable": False},
    }
    bench = Bench(ScriptedModel(lambda call: replies[call.step]))
    asyncio.run(whole_turn(bench))
    assert bench.steps.notice() is None
    assert bench.agent.fallbacks.snapshot() == {}


def test_cancelling_a_turn_is_no_fallback() -> None:
    bench = Bench(ScriptedModel(lambda _: {}, delay_s=9))

    async def cancel() -> None:
        task = asyncio.create_task(whole_turn(bench))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert bench.twin.done == []


@pytest.mark.parametrize("spec", SPECS, ids=[spec.step for spec in SPECS])
def test_every_step_has_a_section_in_the_rules(spec: StepSpec) -> None:
    text, system = prompt(spec.step), rules(spec.step)
    assert text.startswith(f"# Step: {spec.step}")
    assert 400 < len(text) < 6_000
    assert text in system
    assert "<!--" not in system


@pytest.mark.parametrize("spec", SPECS, ids=[spec.step for spec in SPECS])
def test_every_step_is_told_client_from_documents_and_nothing_of_steps_of_another_form(spec: StepSpec) -> None:
    system = rules(spec.step)
    assert "Follow the client's wishes for the form" in system
    assert "you do not do it" in system
    named = {step for step in SECTIONS if f"# Step: {step}\n" in system}
    assert named == ({"answer", "repair"} if spec.step in ("answer", "repair") else {spec.step})


@pytest.mark.parametrize("spec", [plan.SPEC, read.SPEC, answer.SPEC, answer.REPAIR, check.SPEC], ids=lambda s: s.step)
def test_what_every_search_repeats_is_long_enough_to_be_cached(spec: StepSpec) -> None:
    model = ModelSettings().names[spec.fast]
    assert len(rules(spec.step)) > CHARACTERS_A_TOKEN * LEAST_CACHED[model]
