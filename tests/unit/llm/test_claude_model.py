from __future__ import annotations

import asyncio
import gzip
import json
import logging
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from engine.errors import ModelRefused, ModelTruncated, ModelUnavailable
from engine.llm.claude import ClaudeModel
from engine.llm.json_schema import closed_schema
from engine.llm.plain_json import instruction
from engine.llm.protocol import Reply, StructuredCall, TokenUsage
from engine.model.observer import SilentObserver
from engine.settings import ModelSettings
from tests.fakes.messages_replies import Answer, Hang, Raw, Received, Refuse
from tests.fakes.messages_server import FakeMessages
from tests.unit.llm.test_structured import Verdict

CALL = StructuredCall(
    step="judge",
    fast=False,
    system="You judge.",
    user=("the question", "the evidence"),
    schema=closed_schema(Verdict),
    max_tokens=500,
    deadline_s=10.0,
    effort="medium",
)


def model_of(server: FakeMessages, **changes: object) -> ClaudeModel:
    return ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url, **changes))  # type: ignore[arg-type]


def complete(server: FakeMessages, call: StructuredCall = CALL) -> Reply:
    model = model_of(server)
    try:
        return asyncio.run(model.complete(call))
    finally:
        model.close()


def test_the_request_has_schema_effort_and_cached_system_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeMessages([Answer({"done": True})]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = ClaudeModel(ModelSettings(api_key=server.key))
        asyncio.run(model.complete(CALL))
        model.close()
    assert server.requests[0].body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 500,
        "system": [{"type": "text", "text": "You judge.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "the question"}, {"type": "text", "text": "the evidence"}],
            }
        ],
        "output_config": {
            "effort": "medium",
            "format": {"type": "json_schema", "schema": closed_schema(Verdict)},
        },
    }


def test_an_address_of_ones_own_is_told_the_schema_in_words_too() -> None:
    with FakeMessages([Answer({"done": True})]) as server:
        complete(server)
    blocks = server.requests[0].body["messages"][0]["content"]
    assert [block["text"] for block in blocks] == ["the question", "the evidence", instruction(CALL.schema)]
    assert "output_config" in server.requests[0].body


def test_a_fast_call_goes_to_the_fast_model() -> None:
    call = msgspec.structs.replace(CALL, fast=True)
    with FakeMessages([Answer({"done": True})]) as server:
        complete(server, call)
    assert server.requests[0].body["model"] == "claude-haiku-5-5"


def test_the_text_of_all_text_blocks_is_joined_and_thinking_is_passed_over() -> None:
    with FakeMessages([Answer({"done": True}, texts=4)]) as server:
        assert json.loads(complete(server).text) == {"done": True}


def test_tokens_are_those_that_the_service_counted() -> None:
    usage = TokenUsage(input=11, output=7, cache_read=2_000, cache_write=30)
    with FakeMessages([Answer({}, input_tokens=11, output_tokens=7, cache_read=2_000, cache_write=30)]) as server:
        assert complete(server).usage == usage


def test_counters_have_outcomes_and_tokens_of_failed_calls_too() -> None:
    with FakeMessages([Answer({"done": True}), Answer("{", stop_reason="max_tokens")]) as server:
        model = model_of(server)
        asyncio.run(model.complete(CALL))
        with pytest.raises(ModelTruncated) as caught:
            asyncio.run(model.complete(CALL))
        model.close()
    assert caught.value.tokens == 120
    assert model.counters.calls() == {("judge", "ok"): 1, ("judge", "model_truncated"): 1}
    assert model.counters.tokens() == {"claude-sonnet-5-5": TokenUsage(input=200, output=40)}


def test_an_observer_is_told_of_calls_and_of_all_tokens() -> None:
    class Sums(SilentObserver):
        def __init__(self) -> None:
            self.sums: dict[str, int] = {}

        def count(self, name: str, n: int = 1) -> None:
            self.sums[name] = self.sums.get(name, 0) + n

    observer = Sums()
    with FakeMessages([Answer({}, cache_read=50, cache_write=5), Answer("", stop_reason="refusal")]) as server:
        model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url), observer)
        asyncio.run(model.complete(CALL))
        with pytest.raises(ModelRefused):
            asyncio.run(model.complete(CALL))
        model.close()
    assert observer.sums == {
        "model_calls": 2,
        "model_input_tokens": 255,
        "model_cache_read_tokens": 50,
        "model_output_tokens": 40,
    }


def test_one_model_serves_loops_of_several_threads() -> None:
    def echo(received: Received) -> Answer:
        return Answer({"asked": received.body["messages"][0]["content"][0]["text"]})

    replies: dict[int, str] = {}

    def search(number: int, model: ClaudeModel) -> None:
        call = msgspec.structs.replace(CALL, user=(f"q{number}",))
        replies[number] = asyncio.run(model.complete(call)).text

    with FakeMessages(echo) as server:
        model = model_of(server)
        threads = [threading.Thread(target=search, args=(n, model)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        model.close()
    assert {n: json.loads(text)["asked"] for n, text in replies.items()} == {n: f"q{n}" for n in range(8)}


def test_no_more_calls_are_under_way_than_the_limit() -> None:
    async def many(model: ClaudeModel) -> None:
        await asyncio.gather(*(model.complete(CALL) for _ in range(12)))

    with FakeMessages(lambda _: Answer({}, delay_s=0.05)) as server:
        model = model_of(server, concurrency=3)
        asyncio.run(many(model))
        model.close()
    assert server.most_at_once == 3


def test_the_wait_for_a_place_counts_against_the_deadline() -> None:
    async def second_in_line(model: ClaudeModel) -> None:
        first = asyncio.create_task(model.complete(CALL))
        await asyncio.to_thread(server.wait_for, 1)
        with pytest.raises(ModelUnavailable):
            await model.complete(msgspec.structs.replace(CALL, deadline_s=0.1))
        first.cancel()
        await asyncio.wait({first})

    with FakeMessages(lambda _: Hang()) as server:
        model = model_of(server, concurrency=1)
        asyncio.run(second_in_line(model))
        model.close()
    assert len(server.requests) == 1


def test_a_cancelled_call_closes_its_connection() -> None:
    async def cancel(model: ClaudeModel) -> None:
        task = asyncio.create_task(model.complete(CALL))
        await asyncio.to_thread(server.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with FakeMessages(lambda _: Answer({}, delay_s=60)) as server:
        model = model_of(server)
        asyncio.run(cancel(model))
        give_up = time.monotonic() + 10
        while not server.requests[0].went_away and time.monotonic() < give_up:
            time.sleep(0.01)
        model.close()
    assert server.requests[0].went_away
    assert model.counters.calls() == {("judge", "cancelled"): 1}


def test_a_closed_model_is_unavailable_at_once() -> None:
    with FakeMessages([]) as server:
        model = model_of(server)
        asyncio.run(model.aclose())
        asyncio.run(model.aclose())
        with pytest.raises(ModelUnavailable):
            asyncio.run(model.complete(CALL))
    assert server.requests == []


def test_closing_ends_calls_under_way_as_unavailable() -> None:
    async def main(model: ClaudeModel) -> None:
        task = asyncio.create_task(model.complete(CALL))
        await asyncio.to_thread(server.wait_for, 1)
        await model.aclose()
        with pytest.raises(ModelUnavailable):
            await task

    with FakeMessages(lambda _: Hang()) as server:
        asyncio.run(main(model_of(server)))


def test_nothing_of_prompts_or_keys_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "the canary sings"
    call = msgspec.structs.replace(CALL, user=(secret,))
    caplog.set_level(logging.DEBUG)
    with FakeMessages([Refuse(500, headers={"retry-after-ms": "1"}), Answer({"said": secret})]) as server:
        complete(server, call)
    records = [
        record for record in caplog.records if record.name.partition(".")[0] in ("anthropic", "httpx2", "httpcore2")
    ]
    assert records == []
    assert secret not in caplog.text
    assert server.key not in caplog.text


def test_check_finds_nothing_wrong_with_models_that_answer() -> None:
    with FakeMessages(lambda _: Answer("{", stop_reason="max_tokens")) as server:
        model = model_of(server)
        assert model.check() == []
        model.close()
    assert [request.body["model"] for request in server.requests] == ["claude-sonnet-5-5", "claude-haiku-5-5"]
    assert [request.refused for request in server.requests] == [None, None]


@pytest.mark.parametrize(
    ("status", "word"), [(401, "key"), (402, "billed"), (403, "key"), (404, "model"), (529, "busy")]
)
def test_check_names_what_the_operator_must_mend(status: int, word: str) -> None:
    with FakeMessages(lambda _: Refuse(status, headers={"retry-after-ms": "1"})) as server:
        model = model_of(server)
        problems = model.check()
        model.close()
    assert len(problems) == 2
    assert problems[0].startswith("claude-sonnet-5-5: ")
    assert word in problems[0]
    assert "wording" not in problems[0]


def test_check_names_the_model_that_is_unknown() -> None:
    with FakeMessages(lambda _: Answer({"ready": True})) as server:
        model = model_of(server, fast_model="claude-tiny-9")
        problems = model.check()
        model.close()
    assert [problem.partition(":")[0] for problem in problems] == ["claude-tiny-9"]


def test_closing_ends_a_check_under_way() -> None:
    found: list[list[str]] = []
    with FakeMessages(lambda _: Hang()) as server:
        model = model_of(server)
        thread = threading.Thread(target=lambda: found.append(model.check()))
        thread.start()
        server.wait_for(1)
        model.close()
        thread.join(10)
    assert found == [[]]


def test_without_a_key_a_call_is_misconfigured_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with FakeMessages([]) as server:
        settings = ModelSettings(base_url=server.url)
        model = ClaudeModel(settings)
        assert all("key" in problem for problem in model.check())
        model.close()
    assert server.requests == []


def test_the_base_url_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeMessages([Answer({"done": True})]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = ClaudeModel(ModelSettings(api_key=server.key))
        asyncio.run(model.complete(CALL))
        model.close()
    assert len(server.requests) == 1


def test_importing_the_module_does_not_import_the_sdk() -> None:
    code = "import sys, engine.llm.claude; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_compressed_reply_without_end_is_given_up_before_it_fills_the_memory() -> None:
    packed = gzip.compress(b'{"content":"' + b"x" * (256 * 2**20), 1)
    with FakeMessages(lambda _: Raw(packed, headers={"Content-Encoding": "gzip"})) as server:
        tracemalloc.start()
        try:
            with pytest.raises(ModelUnavailable):
                complete(server)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 64 * 2**20


def test_a_compressed_reply_is_read() -> None:
    packed = gzip.compress(Answer({"supported": True}).body("claude-x"))
    with FakeMessages([Raw(packed, headers={"Content-Encoding": "gzip"})]) as server:
        assert json.loads(complete(server).text) == {"supported": True}
