"""Claude through the Anthropic SDK. The SDK takes two seconds and so is imported late, here and in `claude_replies`.

A reply is asked for whole, not streamed: half a JSON object is of no use to a step, and a stream can break in ways
that the SDK reports as success. Retries are counted here (the SDK's are off), because the SDK sleeps as long as a
``retry-after`` header says, without regard to the deadline of the caller.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import random
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from engine.errors import (
    ModelError,
    ModelMisconfigured,
    ModelOutputInvalid,
    ModelRefused,
    ModelTruncated,
    ModelUnavailable,
)
from engine.llm.counters import CallCounters
from engine.llm.loop_thread import LoopStopped, LoopThread
from engine.llm.plain_json import instruction, json_object
from engine.llm.protocol import Reply, StructuredCall, TokenUsage
from engine.model.observer import Observer, SilentObserver
from engine.settings import ModelSettings

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message, TextBlockParam

RETRIES_UNAVAILABLE = 2
RETRIES_GARBAGE = 1
_FIRST_WAIT_S = 0.5
_CONNECT_S = 5.0
_PROBE_DEADLINE_S = 15.0
_PROBE_TOKENS = 64
_BUSY_STATUSES = frozenset({408, 409, 429})
_LOGGERS = ("anthropic", "httpx2", "httpcore2")


class _Fault(NamedTuple):
    """What a failed attempt means, and how often such a failure is tried again."""

    error: ModelError
    retries: int
    wait_s: float | None = None


class _NotAMessage(Exception):
    """The body of a 200 is not a finished message: a proxy's page, or an empty object."""


class ClaudeModel:
    """`ChatModel` on the Messages API: one client and one pool in a process, for callers of any event loop.

    Attributes:
        counters: calls by step and outcome, tokens by model.
    """

    def __init__(self, settings: ModelSettings, observer: Observer | None = None) -> None:
        """Makes no call; a wrong key shows at `check` or at the first `complete`.

        Args:
            settings: without `api_key` or `base_url` the SDK's own lookup (environment, profile files) decides.
            observer: is told of calls and tokens, those of failed calls included.
        """
        self.counters = CallCounters()
        self._observer = observer or SilentObserver()
        self._settings = settings
        self._runner = LoopThread("quarry-model")
        self._places = asyncio.Semaphore(settings.concurrency)
        self._client: AsyncAnthropic | None = None
        self._is_plain = False
        # Off the caller's path: the import takes seconds, and the first search should not wait for it.
        threading.Thread(target=importlib.import_module, args=("anthropic",), daemon=True).start()

    async def complete(self, call: StructuredCall) -> Reply:
        outcome = "cancelled"
        try:
            reply = await self._runner.run(self._complete(call))
            outcome = "ok"
        except LoopStopped as error:
            outcome = ModelUnavailable.code
            raise ModelUnavailable("The model client is closed.") from error
        except ModelError as error:
            outcome = error.code
            raise
        finally:
            self.counters.count(call.step, outcome)
            self._observer.count("model_calls")
        return reply

    def check(self) -> list[str]:
        """What is wrong with key, account or models, one sentence each; empty when both models answer. Blocks.

        It sends each model one call of a few tokens in the form that searches use, because a list of models would
        tell nothing of billing, and nothing of what the address behind ``base_url`` accepts.
        """
        try:
            return self._runner.run_sync(self._check())
        except LoopStopped:
            # Closed meanwhile: no one is left to tell.
            return []

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """`aclose` for callers without a loop. A second call does nothing."""
        self._runner.stop(self._close_client())

    async def _complete(self, call: StructuredCall) -> Reply:
        end = asyncio.get_running_loop().time() + call.deadline_s
        try:
            async with asyncio.timeout_at(end), self._places:
                return await self._attempts(call, end)
        except TimeoutError as error:
            raise ModelUnavailable("The language model did not answer in time.") from error

    async def _attempts(self, call: StructuredCall, end: float) -> Reply:
        import anthropic
        import httpx2

        clock = asyncio.get_running_loop().time
        attempt = 0
        while True:
            try:
                return await self._attempt(call, end - clock())
            except (
                anthropic.AnthropicError,
                httpx2.HTTPError,
                httpx2.InvalidURL,
                OSError,
                ValueError,
                TypeError,
                AssertionError,
                RecursionError,
                _NotAMessage,
            ) as error:
                fault = _read_fault(error)
                wait_s = _FIRST_WAIT_S * 2**attempt * random.uniform(0.75, 1.0)  # noqa: S311 - spreads retries
                wait_s = wait_s if fault.wait_s is None else fault.wait_s
                if attempt >= fault.retries or clock() + wait_s >= end:
                    raise fault.error from error
            attempt += 1
            await asyncio.sleep(wait_s)

    async def _attempt(self, call: StructuredCall, left_s: float) -> Reply:
        import anthropic
        import httpx2
        from anthropic.types import Message

        model = self._settings.fast_model if call.fast else self._settings.model
        is_plain = self._is_plain
        try:
            create = cast("Callable[..., Awaitable[Message]]", self._opened().messages.create)
            message = await create(
                model=model,
                max_tokens=call.max_tokens,
                timeout=httpx2.Timeout(left_s, connect=min(left_s, _CONNECT_S)),
                **(_plain_request(call) if is_plain else _request(call)),
            )
        except (anthropic.BadRequestError, anthropic.UnprocessableEntityError):
            if is_plain or self._settings.base_url is None:
                raise
            # A server that speaks this protocol without its schemas: it is asked in words from now on.
            self._is_plain = True
            return await self._attempt(call, left_s)
        # The SDK gives a string for an HTML body and a Message of Nones for `{}`, without an error.
        if not isinstance(cast("object", message), Message) or not message.stop_reason:
            raise _NotAMessage
        try:
            usage = _usage(message)
            self._spend(model, usage)
            text = json_object(_finished_text(message, usage.total))
        except (AttributeError, TypeError, RecursionError) as error:
            # The SDK builds messages without checking types: a gateway may send anything in their place.
            raise _NotAMessage from error
        if self._settings.base_url is not None and not text.startswith("{"):
            # It took the schema and did not keep to it; the caller asks once more.
            self._is_plain = True
        return Reply(text=text, usage=usage)

    def _spend(self, model: str, usage: TokenUsage) -> None:
        self.counters.spend(model, usage)
        self._observer.count("model_input_tokens", usage.input + usage.cache_read + usage.cache_write)
        self._observer.count("model_cache_read_tokens", usage.cache_read)
        self._observer.count("model_output_tokens", usage.output)

    async def _check(self) -> list[str]:
        problems: list[str] = []
        for fast, name in ((False, self._settings.model), (True, self._settings.fast_model)):
            call = StructuredCall(
                step="probe",
                fast=fast,
                system="Answer with the JSON object asked for.",
                user=("Say that you are ready.",),
                schema={
                    "type": "object",
                    "properties": {"ready": {"type": "boolean"}},
                    "required": ["ready"],
                    "additionalProperties": False,
                },
                max_tokens=_PROBE_TOKENS,
                deadline_s=_PROBE_DEADLINE_S,
            )
            try:
                await self._complete(call)
            except (ModelMisconfigured, ModelUnavailable) as error:
                problems.append(f"{name}: {error.message}")
            except ModelError as error:
                if not error.tokens:
                    problems.append(f"{name}: {error.message}")
        return problems

    def _opened(self) -> AsyncAnthropic:
        if self._client is None:
            self._client = _new_client(self._settings)
        return self._client

    async def _close_client(self) -> None:
        if self._client is not None:
            await self._client.close()


def _new_client(settings: ModelSettings) -> AsyncAnthropic:
    import anthropic

    for name in _LOGGERS:
        # At DEBUG the SDK logs whole requests: prompts and documents.
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    from engine.llm.claude_replies import BoundedClient

    return anthropic.AsyncAnthropic(
        api_key=settings.api_key,
        base_url=settings.base_url,
        max_retries=0,
        open_telemetry=False,
        http_client=BoundedClient(),
    )


def _request(call: StructuredCall) -> dict[str, Any]:
    return {
        "system": [{"type": "text", "text": call.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": _content(call)}],
        "output_config": {"effort": call.effort, "format": {"type": "json_schema", "schema": call.schema}},
    }


def _plain_request(call: StructuredCall) -> dict[str, Any]:
    """Only what every server of this protocol knows."""
    texts = (*call.user, instruction(call.schema))
    return {
        "system": call.system,
        "messages": [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}],
    }


def _content(call: StructuredCall) -> list[TextBlockParam]:
    blocks: list[TextBlockParam] = []
    for place, text in enumerate(call.user):
        block: TextBlockParam = {"type": "text", "text": text}
        if place in call.marks:
            block["cache_control"] = {"type": "ephemeral"}
        blocks.append(block)
    return blocks


def _usage(message: Message) -> TokenUsage:
    # Built without validation by the SDK, so a gateway's reply may lack what the types promise.
    usage = cast("Any", message.usage)
    if usage is None:
        return TokenUsage()
    return TokenUsage(
        input=_whole(usage.input_tokens),
        output=_whole(usage.output_tokens),
        cache_read=_whole(usage.cache_read_input_tokens),
        cache_write=_whole(usage.cache_creation_input_tokens),
    )


def _whole(count: object) -> int:
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def _finished_text(message: Message, tokens: int) -> str:
    """The text of a message that ended by itself; thinking blocks come before it and are passed over."""
    match message.stop_reason:
        case "end_turn":
            pass
        case "refusal":
            raise ModelRefused("The language model declined to answer.", tokens=tokens)
        case "max_tokens" | "model_context_window_exceeded":
            raise ModelTruncated("The language model's reply was cut.", tokens=tokens)
        case _:
            raise ModelOutputInvalid("The language model stopped before it had answered.", tokens=tokens)
    text = "".join(block.text for block in message.content or () if block.type == "text")
    if not text:
        raise ModelOutputInvalid("The language model answered without text.", tokens=tokens)
    return text


def _read_fault(error: Exception) -> _Fault:
    """What an exception of the SDK or its transport means. Messages never quote the provider."""
    import anthropic
    import httpx2

    match error:
        case anthropic.APIStatusError():
            return _read_status(error.status_code, error.response.headers)
        case anthropic.APIResponseValidationError() | _NotAMessage():
            return _Fault(ModelOutputInvalid("The model service did not send a message."), RETRIES_GARBAGE)
        case anthropic.APIConnectionError() | anthropic.RetryableError():
            return _Fault(ModelUnavailable("The model service could not be reached."), RETRIES_UNAVAILABLE)
        case httpx2.HTTPError() | OSError():
            return _Fault(ModelUnavailable("The connection to the model service broke."), RETRIES_GARBAGE)
        case TypeError() | anthropic.AnthropicError() | httpx2.InvalidURL():
            return _Fault(ModelMisconfigured("No usable API key or address for the model service."), 0)
        case _:
            return _Fault(ModelOutputInvalid("The model service sent something unreadable."), RETRIES_GARBAGE)


def _read_status(status: int, headers: Mapping[str, str]) -> _Fault:
    match status:
        case 401 | 403:
            return _Fault(ModelMisconfigured(f"The model service does not accept the API key ({status})."), 0)
        case 402:
            return _Fault(ModelMisconfigured("The account at the model service cannot be billed (402)."), 0)
        case 404:
            return _Fault(ModelMisconfigured("The model service does not know the model or the address (404)."), 0)
        case _ if 400 <= status < 500 and status not in _BUSY_STATUSES:
            return _Fault(ModelMisconfigured(f"The model service does not accept the request ({status})."), 0)
        case _:
            retries = 0 if headers.get("x-should-retry") == "false" else RETRIES_UNAVAILABLE
            error = ModelUnavailable(f"The model service is busy or failing ({status}).")
            return _Fault(error, retries, _retry_after_s(headers))


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the service asks to wait; None when it does not say, or says it as a date."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers[name]) * unit_s
        except (KeyError, ValueError):
            continue
        if 0 <= wait_s < float("inf"):
            return wait_s
    return None
