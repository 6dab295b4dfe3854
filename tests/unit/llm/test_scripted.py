from __future__ import annotations

import asyncio

import pytest

from engine.errors import ModelRefused, ModelUnavailable
from engine.llm.protocol import StructuredCall
from engine.llm.scripted import ScriptedModel

CALL = StructuredCall(step="plan", fast=False, system="s", user=("u",), schema={}, max_tokens=10, deadline_s=0.02)


def test_answers_come_in_order_and_calls_are_kept() -> None:
    model = ScriptedModel(['{"a":1}', {"a": 2}])
    texts = [asyncio.run(model.complete(CALL)).text for _ in range(2)]
    assert (texts, model.calls) == (['{"a":1}', '{"a":2}'], [CALL, CALL])


def test_an_error_in_the_script_is_raised() -> None:
    with pytest.raises(ModelRefused):
        asyncio.run(ScriptedModel([ModelRefused("no")]).complete(CALL))


def test_a_script_that_has_ended_is_an_unavailable_model() -> None:
    with pytest.raises(ModelUnavailable):
        asyncio.run(ScriptedModel([]).complete(CALL))


def test_a_function_answers_each_call() -> None:
    model = ScriptedModel(lambda call: {"step": call.step})
    assert asyncio.run(model.complete(CALL)).text == '{"step":"plan"}'


def test_a_reply_slower_than_the_deadline_is_an_unavailable_model() -> None:
    with pytest.raises(ModelUnavailable):
        asyncio.run(ScriptedModel([{}], delay_s=60).complete(CALL))


def test_a_closed_model_is_unavailable() -> None:
    model = ScriptedModel([{}])
    asyncio.run(model.aclose())
    with pytest.raises(ModelUnavailable):
        asyncio.run(model.complete(CALL))
