from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from engine.agent.steps import Block, ClarificationDraft, Evidence
from engine.errors import ModelUnavailable
from engine.llm.scripted import ScriptedModel
from engine.model.search import Clarification
from engine.question.turn import Question
from tests.unit.agent_claude.examples import CORPUS, EVIDENCE, MULTITURN, PASSAGES, PLAN, QUESTION, Bench
from tests.unit.agent_claude.test_plan import reply


def ask(*options: str, needed: bool = True, question: str = "Which bridge is meant?") -> dict[str, Any]:
    return {"needed": needed, "question": question, "options": list(options)}


def clarify(answer: Any, question: Question = MULTITURN) -> tuple[ClarificationDraft | None, Bench, ScriptedModel]:
    model = ScriptedModel([reply(), answer])
    bench = Bench(model)

    async def turn() -> ClarificationDraft | None:
        await bench.steps.planner.plan(question, CORPUS)
        return await bench.steps.clarifier.clarify(question, PLAN, EVIDENCE)

    return asyncio.run(turn()), bench, model


def test_options_are_attribute_values_that_narrow_or_words_of_the_evidence() -> None:
    made, _, _ = clarify(ask("coastal times", "14 million crowns", "Harbour Gazette"))
    assert made == ClarificationDraft(
        Clarification("Which bridge is meant?", ("Coastal Times", "14 million crowns", "Harbour Gazette")),
        {
            "Coastal Times": {"newspaper": "Coastal Times"},
            "14 million crowns": None,
            "Harbour Gazette": {"newspaper": "Harbour Gazette"},
        },
    )


@pytest.mark.parametrize(
    "foreign", ["The Moon", "https://evil.example/x", "", "cheese market", "cheese", "<b>", "Send your password"]
)
def test_an_option_that_stands_nowhere_in_the_evidence_is_dropped(foreign: str) -> None:
    made, _, _ = clarify(ask("Coastal Times", foreign, "Harbour Gazette"))
    assert made is not None
    assert made.clarification.options == ("Coastal Times", "Harbour Gazette")


@pytest.mark.parametrize(
    "answer",
    [
        ask("Coastal Times", "Harbour Gazette", needed=False),
        ask("Coastal Times"),
        ask("Coastal Times", "COASTAL TIMES"),
        ask(),
    ],
    ids=["not needed", "one option", "one option twice", "none"],
)
def test_without_two_options_nothing_is_asked(answer: dict[str, Any]) -> None:
    assert clarify(answer)[0] is None


def test_at_most_five_options_are_given() -> None:
    values = ["Coastal Times", "Harbour Gazette", "Pellam bridge", "the mayor", "14 million", "planning", "crowns"]
    made, _, _ = clarify(ask(*values))
    assert made is not None
    assert made.clarification.options == tuple(values[:5])
    assert set(made.narrowing) == set(values[:5])


def test_nothing_is_asked_of_a_client_who_cannot_answer() -> None:
    made, _, model = clarify(ask("Coastal Times", "Harbour Gazette"), QUESTION)
    assert made is None
    assert [call.step for call in model.calls] == ["plan"]


def test_nothing_is_asked_before_there_is_evidence() -> None:
    model = ScriptedModel([])
    assert asyncio.run(Bench(model).steps.clarifier.clarify(MULTITURN, PLAN, ())) is None


def test_options_may_stand_in_passages_that_nobody_has_read_yet() -> None:
    model = ScriptedModel([ask("cheese market", "14 million crowns", "Orrin viaduct")])
    unread = [Evidence(item, (), 0.0) for item in PASSAGES]
    made = asyncio.run(Bench(model).steps.clarifier.clarify(MULTITURN, PLAN, unread))
    assert made is not None
    assert made.clarification.options == ("cheese market", "14 million crowns")
    assert "[1] The Pellam bridge was long in planning." in model.calls[0].user[1]


@pytest.mark.parametrize(
    "bad",
    [
        "Which?\n<img src=x> see https://evil.example/q",
        "Which bridge, see evil.example?",
        "Was the bridge opened by the mayor, as evil.example has it?",
        "Log in and give your password?",
        "Which bridge does Tim Cook mean?",
        "Open the bridge now!",
    ],
)
def test_a_question_that_says_more_than_was_asked_is_put_in_words_of_ours(bad: str) -> None:
    made, bench, _ = clarify(ask("Coastal Times", "the mayor", question=bad))
    assert made is not None
    assert made.clarification.question == "Which of these is meant?"
    assert bench.steps.trace is not None
    assert [removal.part for removal in bench.steps.trace.removed()] == ["question"]


def test_an_option_that_stands_in_a_title_is_kept() -> None:
    titled = [
        msgspec.structs.replace(e, passage=msgspec.structs.replace(e.passage, facts=(Block("x", 0, title, "title"),)))
        for e, title in zip(EVIDENCE, ["The old bridge", "The new bridge"], strict=True)
    ]
    model = ScriptedModel([ask("the old bridge", "The new bridge")])
    made = asyncio.run(Bench(model).steps.clarifier.clarify(MULTITURN, PLAN, titled))
    assert made is not None
    assert made.clarification.options == ("the old bridge", "The new bridge")


def test_the_twin_decides_when_the_model_cannot() -> None:
    made, bench, _ = clarify(ModelUnavailable("x"))
    assert made is None
    assert bench.twin.done == ["clarify"]
