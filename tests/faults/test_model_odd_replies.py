"""Replies of wrong types, of any depth, or of servers without structured outputs: an answer, never `failed`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.agent.claude.prompt_files import rules
from engine.errors import ModelError, ModelMisconfigured, ModelOutputInvalid
from engine.llm.claude import ClaudeModel
from engine.llm.structured import structured
from engine.settings import ModelSettings
from tests.contracts.chat_model import Echo, call
from tests.fakes.messages_replies import Act, Answer, Raw, Received, Refuse
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of
from tests.fakes.prefix_cache import CHARACTERS_A_TOKEN, Counted, PrefixCache
from tests.faults.test_claude_search import COSTS, check_answer, opened

DEEP = 100_000


def message(**fields: Any) -> Raw:
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": '{"said": "x"}'}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return Raw(json.dumps(whole | fields).encode())


ODD: dict[str, Act] = {
    "content is text": message(content="hello"),
    "content is a number": message(content=7),
    "blocks are texts": message(content=["a", "b"]),
    "a text is a number": message(content=[{"type": "text", "text": 7}]),
    "a text is missing": message(content=[{"type": "text"}]),
    "stop reason is a list": message(stop_reason=["end_turn"]),
    "usage is text": message(usage="many"),
    "body is a list": Raw(b"[1, 2]"),
    "body is deep": Raw(b"[" * DEEP + b"]" * DEEP),
    "text is deep": Answer("[" * DEEP + "]" * DEEP),
    "text is a deep object": Answer('{"a":' * DEEP + "1" + "}" * DEEP),
    "fields of other types": Answer({"said": 7, "coverage": 1, "findings": {}, "passages": "x", "sub_questions": None}),
    "numbers beyond 64 bits": Answer('{"passages": [{"passage": ' + "9" * 400 + "}]}"),
    "lone surrogate": Answer('{"said": "\\ud800"}'),
}


@pytest.mark.parametrize("act", list(ODD.values()), ids=list(ODD))
def test_an_odd_reply_is_an_error_of_the_model_and_no_other(act: Act) -> None:
    with FakeMessages(lambda _: act) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        with pytest.raises(ModelError):
            asyncio.run(structured(model, call("hello"), Echo))
        model.close()


def test_tokens_of_odd_types_count_nothing() -> None:
    usage = {"input_tokens": "many", "output_tokens": -5, "cache_read_input_tokens": [1]}
    with FakeMessages(lambda _: message(usage=usage)) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        value, spent = asyncio.run(structured(model, call("hello"), Echo))
        model.close()
    assert (value, spent.total) == (Echo("x"), 0)


@pytest.mark.parametrize("name", ["blocks are texts", "body is deep", "text is deep", "fields of other types"])
def test_a_search_on_a_model_of_odd_replies_ends_in_the_offline_answer(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, lambda _: ODD[name]) as (quarry, _):
        response = quarry.search("papers", **COSTS)
        check_answer(quarry, response)
        assert "rules and extraction" in response.synthesis


def without_schemas(received: Received) -> Act:
    """A server of the same protocol that knows neither schemas nor cache marks, and talks around its JSON."""
    if "output_config" in received.body or "cache_control" in json.dumps(received.body):
        return Refuse(400, "invalid_request_error", message="output_config: Extra inputs are not permitted")
    assert "Reply with exactly one JSON object" in received.user
    return Answer('Sure, here it is:\n```json\n{"said": "hello"}\n```', thinking=False)


def test_a_server_without_structured_outputs_is_asked_in_words_and_stays_so() -> None:
    with FakeMessages(without_schemas) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        for _ in range(2):
            value, _ = asyncio.run(structured(model, call("hello"), Echo))
            assert value == Echo("hello")
        model.close()
    assert len(server.requests) == 3


OTHER_REFUSALS: dict[str, Raw | Refuse] = {
    "without a name": Refuse(400, "invalid_request_error"),
    "of the model": Refuse(400, "invalid_request_error", message="the model is not loaded"),
    "that repeats the request": Raw(
        json.dumps(
            {
                "detail": [
                    {
                        "type": "missing",
                        "loc": ["body", "top_k"],
                        "msg": "Field required",
                        "input": {"output_config": {}},
                    }
                ]
            }
        ).encode(),
        status=422,
    ),
}


@pytest.mark.parametrize("refusal", list(OTHER_REFUSALS.values()), ids=list(OTHER_REFUSALS))
def test_a_refusal_of_something_else_is_an_error_and_changes_nothing(refusal: Raw | Refuse) -> None:
    with FakeMessages([refusal, Answer({"said": "hello"})]) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        with pytest.raises(ModelMisconfigured):
            asyncio.run(structured(model, call("hello"), Echo))
        value, _ = asyncio.run(structured(model, call("hello"), Echo))
        model.close()
    assert value == Echo("hello")
    assert ["output_config" in received.body for received in server.requests] == [True, True]


def test_the_providers_own_address_is_never_asked_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeMessages(without_schemas) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = ClaudeModel(ModelSettings(api_key=server.key))
        with pytest.raises(ModelMisconfigured):
            asyncio.run(model.complete(call("hello")))
        model.close()
    assert len(server.requests) == 1


def test_a_server_that_ignores_the_schema_reads_it_in_words() -> None:
    def script(received: Received) -> Act:
        is_told = "Reply with exactly one JSON object" in received.user
        return Answer('<think>{"said": what?}</think> {"said": "hello"}' if is_told else "Hello to you too!")

    with FakeMessages(script) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        value, _ = asyncio.run(structured(model, call("hello"), Echo))
        model.close()
    assert (value, len(server.requests)) == (Echo("hello"), 1)


def test_one_reply_without_json_changes_nothing_for_the_calls_after_it() -> None:
    with FakeMessages([Answer("Hello to you too!"), *[Answer({"said": "hello"})] * 2]) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        for _ in range(2):
            asyncio.run(structured(model, call("hello"), Echo))
        model.close()
    assert ["output_config" in received.body for received in server.requests] == [True] * 3


def test_a_server_that_gives_no_json_in_words_either_is_left_to_the_twin() -> None:
    with FakeMessages(lambda _: Answer("I would rather talk.")) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
        with pytest.raises(ModelOutputInvalid):
            asyncio.run(structured(model, call("hello"), Echo))
        model.close()
    assert len(server.requests) == 2


def test_what_repeats_within_a_search_is_read_from_the_cache(tmp_path: Path) -> None:
    """The fake keeps prefixes as the service does, least lengths included: repair reads what the answer wrote."""
    cache = PrefixCache()
    counted: list[tuple[str, Counted]] = []

    def script(received: Received) -> Act:
        step = step_of(received)
        counts = cache.count(received.body)
        counted.append((step, counts))
        reply = honest(step, received)
        if step == "answer":
            reply["sentences"].append({"text": "It cost 99 million crowns.", "findings": [1], "computed": []})
        return Answer(reply, input_tokens=counts.input, cache_read=counts.read, cache_write=counts.written)

    with opened(tmp_path, script) as (quarry, _):
        quarry.search("papers", **COSTS)
        first = dict(counted)
        counted.clear()
        quarry.search("papers", **COSTS)
        second = dict(counted)
    system = len(rules("answer")) // CHARACTERS_A_TOKEN
    assert first["answer"].written > system
    assert first["repair"].read == first["answer"].written
    assert first["repair"].input < first["repair"].read
    for step in ("plan", "read", "answer", "repair"):
        assert second[step].read >= len(rules(step)) // CHARACTERS_A_TOKEN, step
