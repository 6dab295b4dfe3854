"""Models behind chat completions: what is sent, what servers of one's own refuse, what is read back."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import logging
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from engine.errors import ModelMisconfigured, ModelOutputInvalid, ModelRefused, ModelTruncated, ModelUnavailable
from engine.llm.json_schema import closed_schema
from engine.llm.openai import OpenAIModel
from engine.llm.plain_json import instruction
from engine.llm.protocol import Reply, StructuredCall, TokenUsage
from engine.settings import ModelSettings
from tests.fakes.chat_rules import error, first_refusal
from tests.fakes.chat_server import FAST, STRONG, FakeChat, FakeLocal
from tests.fakes.messages_replies import Act, Answer, Raw, Received
from tests.unit.llm.test_structured import Verdict

CALL = StructuredCall(
    step="answer",
    fast=False,
    system="You answer.",
    user=("the question", "the evidence"),
    schema=closed_schema(Verdict),
    max_tokens=500,
    deadline_s=10.0,
    effort="medium",
)
GOOD = Answer({"done": True})


def model_of(server: FakeChat, name: str = STRONG, **changes: Any) -> OpenAIModel:
    return OpenAIModel(ModelSettings(model=f"openai:{name}", api_key=server.key, base_url=server.url, **changes))


def complete(server: FakeChat, call: StructuredCall = CALL, times: int = 1, name: str = STRONG) -> Reply:
    model = model_of(server, name)
    try:
        for _ in range(times - 1):
            asyncio.run(model.complete(call))
        return asyncio.run(model.complete(call))
    finally:
        model.close()


def test_the_providers_own_address_gets_schema_effort_and_the_newer_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeChat([GOOD]) as server:
        monkeypatch.setattr("engine.llm.openai.DEFAULT_URL", server.url)
        model = OpenAIModel(ModelSettings(model=f"openai:{STRONG}", api_key=server.key))
        asyncio.run(model.complete(CALL))
        model.close()
    assert server.requests[0].body == {
        "model": STRONG,
        "messages": [
            {"role": "system", "content": "You answer."},
            {"role": "user", "content": "the question\n\nthe evidence"},
        ],
        "max_completion_tokens": 500,
        "reasoning_effort": "medium",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": closed_schema(Verdict), "strict": True},
        },
    }


def test_a_fast_call_goes_to_the_fast_model_and_one_name_serves_for_both() -> None:
    call = msgspec.structs.replace(CALL, fast=True)
    with FakeLocal(lambda _: GOOD) as server:
        for fast_model in (f"openai:{FAST}", None):
            model = model_of(server, fast_model=fast_model)
            asyncio.run(model.complete(call))
            model.close()
    assert [received.body["model"] for received in server.requests] == [FAST, STRONG]


def test_a_gateway_to_thinking_models_is_told_the_newer_limit_once_it_refused_the_older() -> None:
    with FakeChat(lambda _: GOOD) as server:
        complete(server, times=2)
    assert [received.refused for received in server.requests] == ["older limit", None, None]
    assert server.requests[-1].body["max_completion_tokens"] == 500


def test_a_model_that_does_not_think_is_not_told_how_much() -> None:
    with FakeChat(lambda _: GOOD) as server:
        complete(server, times=2, name="gpt-4o")
    assert [received.refused for received in server.requests] == ["effort", None, None]
    assert "response_format" in server.requests[-1].body


def test_a_server_without_schemas_is_asked_in_words_and_stays_so(caplog: pytest.LogCaptureFixture) -> None:
    talk = Answer('<think>Is it {done}?</think>\nSure:\n```json\n{"done": true}\n```')
    with FakeLocal(lambda _: talk, refuses=("response_format", "reasoning_effort")) as server:
        assert json.loads(complete(server, times=2).text) == {"done": True}
    assert len(server.requests) == 4
    assert server.requests[-1].body == {
        "model": STRONG,
        "messages": [
            {"role": "system", "content": "You answer."},
            {"role": "user", "content": f"the question\n\nthe evidence\n\n{instruction(CALL.schema)}"},
        ],
        "max_tokens": 500,
    }
    assert sum("refused a parameter" in record.message for record in caplog.records) == 1


def test_what_one_model_refuses_is_still_sent_to_the_other() -> None:
    def script(received: Received) -> Act:
        if received.body["model"] == FAST and "response_format" in received.body:
            return error(400, "This response_format type is unavailable now")
        return GOOD

    with FakeLocal(script) as server:
        model = model_of(server, fast_model=f"openai:{FAST}")
        for fast in (True, False, True):
            asyncio.run(model.complete(msgspec.structs.replace(CALL, fast=fast)))
        model.close()
    sent = [(received.body["model"], "response_format" in received.body) for received in server.requests]
    assert sent == [(FAST, True), (FAST, False), (STRONG, True), (FAST, False)]


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "the server is in a bad mood"),
        error(400, "Invalid 'max_tokens': below the minimum.", "max_tokens", "integer_below_min_value"),
        Raw(json.dumps({"detail": [{"msg": "bad", "input": {"response_format": 1}}]}).encode(), status=422),
    ],
    ids=["of something else", "of a value", "that repeats the request"],
)
def test_a_refusal_that_names_no_parameter_is_an_error_and_changes_nothing(refusal: Raw) -> None:
    with FakeLocal([refusal, GOOD]) as server:
        model = model_of(server)
        with pytest.raises(ModelMisconfigured):
            asyncio.run(model.complete(CALL))
        asyncio.run(model.complete(CALL))
        model.close()
    assert set(server.requests[0].body) == set(server.requests[1].body)


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (
            error(400, "Could not finish the message because max_tokens or model output limit was reached."),
            ModelTruncated,
        ),
        (
            error(400, "This model's maximum context length is 4096 tokens.", None, "context_length_exceeded"),
            ModelTruncated,
        ),
        (error(400, "The response was filtered", "prompt", "content_filter"), ModelRefused),
        (error(429, "You exceeded your current quota", None, "insufficient_quota"), ModelMisconfigured),
        (Answer("", stop_reason="content_filter"), ModelRefused),
        (Answer("{", stop_reason="tool_use"), ModelOutputInvalid),
    ],
    ids=["no room to finish", "context too long", "filtered prompt", "unpaid", "filtered reply", "a tool"],
)
def test_what_the_service_says_beyond_its_status_is_read(act: Act, kind: type[Exception]) -> None:
    with FakeLocal(lambda _: act) as server, pytest.raises(kind):
        complete(server)
    assert len(server.requests) == 1


def test_tokens_are_those_that_the_service_counted_and_cached_ones_are_not_counted_twice() -> None:
    with FakeLocal([Answer({}, input_tokens=11, output_tokens=7, cache_read=2_000, cache_write=30)]) as server:
        assert complete(server).usage == TokenUsage(input=11, output=7, cache_read=2_000, cache_write=30)


ODD: dict[str, Any] = {
    "choices are text": {"choices": "hello"},
    "no choices": {"choices": []},
    "choices are numbers": {"choices": [7]},
    "message is none": {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]},
    "content is a list": {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": [1]}}]},
    "no finish reason": {"choices": [{"index": 0, "message": {"content": "{}"}}]},
    "finish reason is a list": {"choices": [{"index": 0, "finish_reason": ["stop"], "message": {"content": "{}"}}]},
}


@pytest.mark.parametrize("body", list(ODD.values()), ids=list(ODD))
def test_an_odd_reply_is_no_message(body: dict[str, Any]) -> None:
    with (
        FakeLocal(lambda _: Raw(json.dumps({"id": "x", **body}).encode())) as server,
        pytest.raises(ModelOutputInvalid),
    ):
        complete(server)
    assert len(server.requests) == 2


@pytest.mark.parametrize("usage", [None, "many", {"prompt_tokens": "many", "completion_tokens": -5}])
def test_tokens_of_odd_types_count_nothing(usage: object) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"done": true}'}}
    body = json.dumps({"id": "x", "choices": [choice], "usage": usage}).encode()
    with FakeLocal([Raw(body)]) as server:
        assert complete(server).usage.total == 0


def test_a_compressed_reply_without_end_is_given_up() -> None:
    packed = gzip.compress(b'{"content":"' + b"x" * (64 * 2**20), 1)
    act = Raw(packed, headers={"Content-Encoding": "gzip"})
    with FakeLocal(lambda _: act) as server, pytest.raises(ModelUnavailable):
        complete(server)


def test_check_asks_each_model_once_and_names_the_one_that_is_unknown() -> None:
    with FakeChat(lambda _: Answer({"ready": True})) as server:
        model = model_of(server, fast_model="openai:tiny-9")
        problems = model.check()
        model.close()
    assert [problem.partition(":")[0] for problem in problems] == ["tiny-9"]


def test_without_the_extra_a_call_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with FakeLocal([]) as server, pytest.raises(ModelMisconfigured, match="quarry-search\\[openai\\]"):
        complete(server)
    assert server.requests == []


def test_importing_the_module_does_not_import_the_sdk() -> None:
    code = "import sys, engine.llm.chosen; sys.exit('openai' in sys.modules or 'anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_of_prompts_or_keys_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    importlib.import_module("openai")
    caplog.set_level(logging.DEBUG)
    secret = "the canary sings"
    call = msgspec.structs.replace(CALL, user=(secret,))
    with FakeLocal([error(400, f"{secret}: response_format"), Answer({"said": secret})]) as server:
        complete(server, call)
    assert secret not in caplog.text
    assert server.key not in caplog.text


HEADERS = {"authorization": "Bearer k"}
SENT: dict[str, Any] = {
    "model": STRONG,
    "messages": [{"role": "user", "content": "u"}],
    "max_completion_tokens": 100,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": closed_schema(Verdict), "strict": True},
    },
}
OPEN = {"type": "object", "properties": {}, "required": []}
OPTIONAL = {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False}


def with_schema(schema: dict[str, Any], **form: Any) -> dict[str, Any]:
    return SENT | {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "x", "schema": schema, "strict": True} | form,
        }
    }


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (SENT | {"max_tokens": 9}, "older limit"),
        (SENT | {"max_completion_tokens": 9}, "small limit"),
        (SENT | {"max_completion_tokens": 0}, "small limit"),
        (SENT | {"temperature": 0.2}, "sampling"),
        (SENT | {"system": "x"}, "unknown field"),
        (SENT | {"model": "gpt-0"}, "model"),
        (SENT | {"model": "gpt-4o", "reasoning_effort": "low"}, "effort"),
        (SENT | {"messages": []}, "no messages"),
        (SENT | {"messages": [{"role": "user", "content": ""}]}, "content"),
        (with_schema(OPEN), "schema"),
        (with_schema(OPTIONAL), "schema"),
        (with_schema({"type": "array", "items": {"type": "string"}}), "root"),
        (with_schema(closed_schema(Verdict) | {"minProperties": 1}), "schema"),
        (with_schema(closed_schema(Verdict), name="a name"), "format name"),
        (SENT | {"response_format": {"type": "json"}}, "format"),
    ],
)
def test_the_fake_refuses_what_the_service_refuses(body: dict[str, Any], rule: str) -> None:
    broken = first_refusal(HEADERS, body, frozenset({"k"}))
    assert broken is not None
    assert broken[0] == rule


def test_the_fake_accepts_a_good_request_and_no_other_key() -> None:
    assert first_refusal(HEADERS, SENT, frozenset({"k"})) is None
    assert first_refusal({"authorization": "Bearer x"}, SENT, frozenset({"k"})) is not None
