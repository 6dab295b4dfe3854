from __future__ import annotations

import asyncio

import msgspec
import pytest

from engine.errors import ModelOutputInvalid, ModelRefused, ModelUnavailable
from engine.llm.json_schema import closed_schema
from engine.llm.protocol import StructuredCall, TokenUsage
from engine.llm.scripted import ScriptedModel
from engine.llm.structured import structured

CALL = StructuredCall(step="judge", fast=False, system="s", user=("u",), schema={}, max_tokens=10, deadline_s=5.0)
GARBAGE = ["", "no", "[]", '{"done": 1}', '{"done": true, "more": 1}', '```json\n{"done": true}\n```', '{"done": true']


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    done: bool


def ask(model: ScriptedModel) -> tuple[Verdict, TokenUsage]:
    return asyncio.run(structured(model, CALL, Verdict))


def test_the_reply_is_decoded_and_its_tokens_are_given() -> None:
    assert ask(ScriptedModel([{"done": True}])) == (Verdict(True), TokenUsage(input=100, output=20))


def test_the_schema_of_the_type_is_asked_for() -> None:
    model = ScriptedModel([{"done": True}])
    ask(model)
    assert model.calls[0].schema == closed_schema(Verdict)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_reply_of_another_form_is_asked_for_once_more(garbage: str) -> None:
    value, usage = ask(ScriptedModel([garbage, {"done": False}]))
    assert (value.done, usage.total) == (False, 240)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_two_replies_of_another_form_are_an_error_that_counts_both(garbage: str) -> None:
    model = ScriptedModel([garbage, garbage, {"done": True}])
    with pytest.raises(ModelOutputInvalid) as caught:
        ask(model)
    assert (caught.value.tokens, len(model.calls)) == (240, 2)


def test_the_second_attempt_has_only_what_is_left_of_the_deadline() -> None:
    model = ScriptedModel(["no", {"done": True}], delay_s=0.05)
    ask(model)
    assert model.calls[1].deadline_s <= CALL.deadline_s - 0.05


@pytest.mark.parametrize("error", [ModelUnavailable("x"), ModelRefused("x", tokens=7)])
def test_errors_of_the_model_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        ask(ScriptedModel([error]))
    assert caught.value is error


def test_an_invalid_second_reply_counts_the_tokens_of_the_first() -> None:
    with pytest.raises(ModelOutputInvalid) as caught:
        ask(ScriptedModel(["no", ModelOutputInvalid("x", tokens=5)]))
    assert caught.value.tokens == 125
