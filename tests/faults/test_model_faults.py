"""Every way in which a call can go wrong, over real HTTP: which error it is, and how many calls it took."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest

from engine.errors import (
    ModelError,
    ModelMisconfigured,
    ModelOutputInvalid,
    ModelRefused,
    ModelTruncated,
    ModelUnavailable,
)
from engine.llm.claude import ClaudeModel
from engine.llm.json_schema import closed_schema
from engine.llm.openai import OpenAIModel
from engine.llm.protocol import StructuredCall
from engine.llm.remote import RemoteModel
from engine.settings import ModelSettings
from tests.fakes.chat_server import STRONG, FakeChat
from tests.fakes.messages_replies import Act, Answer, Cut, Framing, Hang, Raw, Received, Refuse, Reset
from tests.fakes.messages_server import FakeMessages


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    done: bool


CALL = StructuredCall(
    step="judge",
    fast=False,
    system="You judge.",
    user=("the question",),
    schema=closed_schema(Verdict),
    max_tokens=500,
    deadline_s=10.0,
)


class ThinkingOnly(FakeChat):
    """The service, but for its refusal of the older name of the limit: a fault must stand alone."""

    def refusal(self, received: Received) -> tuple[str, Act] | None:
        broken = super().refusal(received)
        return None if broken is not None and broken[0] == "older limit" else broken


GOOD = Answer({"done": True})
SOON = {"retry-after-ms": "1"}
"""A wait as the service may ask for; without it the tests would sit through the backoff."""


def opened(server: FakeMessages, concurrency: int = 16) -> RemoteModel:
    settings = ModelSettings(api_key=server.key, base_url=server.url, concurrency=concurrency)
    if isinstance(server, FakeChat):
        return OpenAIModel(msgspec.structs.replace(settings, model=f"openai:{STRONG}"))
    return ClaudeModel(settings)


@pytest.fixture(params=[FakeMessages, ThinkingOnly], ids=["claude", "openai"])
def service(request: pytest.FixtureRequest) -> type[FakeMessages]:
    """Which service is faked: every fault is tried with both SDKs."""
    return request.param


def outcome(server: FakeMessages, call: StructuredCall = CALL) -> str | ModelError:
    model = opened(server)
    try:
        return asyncio.run(model.complete(call)).text
    except ModelError as error:
        return error
    finally:
        model.close()


FAULTS: list[tuple[str, Act, type[ModelError], int]] = [
    ("400", Refuse(400, "invalid_request_error", SOON), ModelMisconfigured, 1),
    ("401", Refuse(401, "authentication_error", SOON), ModelMisconfigured, 1),
    ("402", Refuse(402, "billing_error", SOON), ModelMisconfigured, 1),
    ("403", Refuse(403, "permission_error", SOON), ModelMisconfigured, 1),
    ("404", Refuse(404, "not_found_error", SOON), ModelMisconfigured, 1),
    ("413", Refuse(413, "request_too_large", SOON), ModelMisconfigured, 1),
    ("422", Refuse(422, "invalid_request_error", SOON), ModelMisconfigured, 1),
    ("408", Refuse(408, "timeout_error", SOON), ModelUnavailable, 3),
    ("409", Refuse(409, "conflict_error", SOON), ModelUnavailable, 3),
    ("429", Refuse(429, "rate_limit_error", SOON), ModelUnavailable, 3),
    ("500", Refuse(500, "api_error", SOON), ModelUnavailable, 3),
    ("502", Raw(b"<html>bad gateway</html>", "text/html", 502), ModelUnavailable, 3),
    ("503", Refuse(503, "api_error", SOON), ModelUnavailable, 3),
    ("504", Refuse(504, "timeout_error", SOON), ModelUnavailable, 3),
    ("529", Refuse(529, "overloaded_error", SOON), ModelUnavailable, 3),
    ("529, not to be retried", Refuse(529, "overloaded_error", {"x-should-retry": "false"}), ModelUnavailable, 1),
    ("reset before headers", Reset(), ModelUnavailable, 3),
    ("reset in the body", Cut(GOOD, 100, reset=True), ModelUnavailable, 3),
    ("end in the body", Cut(GOOD, 100), ModelUnavailable, 3),
    ("end in a chunked body", Cut(GOOD, 100, "chunked"), ModelUnavailable, 3),
    ("clean end in the body", Cut(GOOD, 100, "close"), ModelOutputInvalid, 2),
    ("200 with a page", Raw(b"<html>log in</html>", "text/html"), ModelOutputInvalid, 2),
    ("200 with an empty object", Raw(b"{}"), ModelOutputInvalid, 2),
    ("200 with a list", Raw(b"[]"), ModelOutputInvalid, 2),
    ("200 with null", Raw(b"null"), ModelOutputInvalid, 2),
    ("200 with broken JSON", Raw(b'{"id": "msg_1", '), ModelOutputInvalid, 2),
    ("200 with nothing", Raw(b""), ModelOutputInvalid, 2),
    ("no stop reason", Answer({"done": True}, stop_reason=None), ModelOutputInvalid, 2),
    ("max_tokens", Answer('{"done": tr', stop_reason="max_tokens"), ModelTruncated, 1),
    ("context exceeded", Answer("", stop_reason="model_context_window_exceeded"), ModelTruncated, 1),
    ("refusal", Answer("I", stop_reason="refusal", stop_details={"type": "refusal"}), ModelRefused, 1),
    ("pause_turn", Answer("", stop_reason="pause_turn"), ModelOutputInvalid, 1),
    ("tool_use", Answer("", stop_reason="tool_use"), ModelOutputInvalid, 1),
    ("stop_sequence", Answer("{", stop_reason="stop_sequence"), ModelOutputInvalid, 1),
    ("unknown stop reason", Answer("{", stop_reason="tired"), ModelOutputInvalid, 1),
    ("no text", Answer(""), ModelOutputInvalid, 1),
]


@pytest.mark.parametrize(("act", "kind", "calls"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_every_fault_has_its_error_its_number_of_calls_and_a_message_of_ours(
    service: type[FakeMessages], act: Act, kind: type[ModelError], calls: int
) -> None:
    with service(lambda _: act) as server:
        error = outcome(server)
    assert type(error) is kind
    assert len(server.requests) == calls
    assert not any(word in error.message for word in ("wording", "<html>", "req_", server.key))
    assert isinstance(act, Answer) or error.__cause__ is not None


@pytest.mark.parametrize("act", [row[1] for row in FAULTS if row[3] > 1], ids=[row[0] for row in FAULTS if row[3] > 1])
def test_a_fault_that_passes_is_not_noticed(service: type[FakeMessages], act: Act) -> None:
    with service([act, GOOD]) as server:
        assert outcome(server) == '{"done": true}'


def test_a_refused_connection_is_an_unavailable_model(service: type[FakeMessages]) -> None:
    with service([]) as server:
        pass
    assert type(outcome(server)) is ModelUnavailable


@pytest.mark.parametrize(("model_class", "name"), [(ClaudeModel, "claude-sonnet-5-5"), (OpenAIModel, "openai:x")])
def test_an_address_that_is_none_is_misconfigured_or_unavailable(
    model_class: type[ClaudeModel | OpenAIModel], name: str
) -> None:
    model = model_class(ModelSettings(model=name, api_key="k", base_url="http://[not-an-address"))
    with pytest.raises((ModelMisconfigured, ModelUnavailable)):
        asyncio.run(model.complete(CALL))
    model.close()


def test_a_long_retry_after_ends_the_call_at_once_instead_of_at_its_deadline(service: type[FakeMessages]) -> None:
    async def beside_a_wait(model: RemoteModel) -> bool:
        call = asyncio.create_task(model.complete(msgspec.structs.replace(CALL, deadline_s=60)))
        await asyncio.wait({call}, timeout=20)
        return call.done() and isinstance(call.exception(), ModelUnavailable)

    with service(lambda _: Refuse(429, "rate_limit_error", {"retry-after": "120"})) as server:
        model = opened(server)
        assert asyncio.run(beside_a_wait(model))
        model.close()
    assert len(server.requests) == 1


@pytest.mark.parametrize("retry_after", ["soon", "-1", "inf", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_retry_after_that_cannot_be_read_is_passed_over(retry_after: str) -> None:
    with FakeMessages([Refuse(429, headers={"retry-after": retry_after}), GOOD]) as server:
        assert outcome(server) == '{"done": true}'


@pytest.mark.parametrize(
    "hang", [Hang(), Hang(GOOD, 0), Hang(GOOD, 100)], ids=["before headers", "after headers", "in the body"]
)
def test_a_service_that_hangs_is_left_at_the_deadline(service: type[FakeMessages], hang: Hang) -> None:
    with service(lambda _: hang) as server:
        error = outcome(server, msgspec.structs.replace(CALL, deadline_s=0.3))
    assert type(error) is ModelUnavailable
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("service", "framing"),
    [(FakeMessages, "length"), (FakeMessages, "chunked"), (FakeMessages, "close"), (ThinkingOnly, "close")],
    ids=["claude length", "claude chunked", "claude close", "openai close"],
)
def test_no_answer_is_made_of_a_body_cut_at_any_byte(service: type[FakeMessages], framing: Framing) -> None:
    def cut(received: Received) -> Act:
        return Cut(GOOD, int(received.asked), framing)

    async def at_every_byte(model: RemoteModel) -> list[object]:
        calls = (msgspec.structs.replace(CALL, user=(str(n),), deadline_s=60) for n in range(length))
        return await asyncio.gather(*(model.complete(call) for call in calls), return_exceptions=True)

    with service(cut) as server:
        length = len(server.written(GOOD, STRONG if service is ThinkingOnly else "claude-sonnet-5-5"))
        model = opened(server, concurrency=1_000)
        outcomes = asyncio.run(at_every_byte(model))
        model.close()
    assert {type(outcome) for outcome in outcomes} <= {ModelUnavailable, ModelOutputInvalid}
    assert len(outcomes) == length > 300


def test_a_hundred_calls_at_once_each_get_their_own_reply(service: type[FakeMessages]) -> None:
    def echo(received: Received) -> Answer:
        number = int(received.asked)
        return Answer({"asked": number}, delay_s=0.05 + number % 10 * 0.02, input_tokens=number)

    async def hundred(model: RemoteModel) -> list[tuple[int, int]]:
        calls = (msgspec.structs.replace(CALL, user=(str(n),), deadline_s=60) for n in range(100))
        replies = await asyncio.gather(*(model.complete(call) for call in calls))
        return [(json.loads(reply.text)["asked"], reply.usage.input) for reply in replies]

    with service(echo) as server:
        model = opened(server, concurrency=100)
        assert asyncio.run(hundred(model)) == [(n, n) for n in range(100)]
        model.close()
    assert server.most_at_once > 16
