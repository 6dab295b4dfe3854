"""Claude through the Anthropic SDK. The SDK takes two seconds and so is imported late."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from engine.llm.faults import NotAMessage, SdkErrors, caught, read_fault, said
from engine.llm.plain_json import instruction
from engine.llm.protocol import StructuredCall, TokenUsage
from engine.llm.remote import CONNECT_S, Failed, Finished, RemoteModel, Stop, whole
from engine.model.observer import Observer
from engine.settings import ModelSettings

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message, TextBlockParam

_log = logging.getLogger(__name__)

_STRUCTURED = ("output_config", "output_format", "json_schema", "structured output", "cache_control")
"""What a server names when it refuses the schema or the marks. A refusal that names none of them is about something
else, and asking in words would not mend it."""

_STOPS: dict[str, Stop] = {
    "end_turn": "answered",
    "refusal": "refused",
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
}


class ClaudeModel(RemoteModel):
    """`ChatModel` on the Messages API."""

    def __init__(self, settings: ModelSettings, observer: Observer | None = None) -> None:
        """See `RemoteModel`.

        Args:
            settings: without `api_key` or `base_url` the SDK's own lookup (environment, profile files) decides.
            observer: see `RemoteModel`.
        """
        super().__init__(_Messages(settings), settings.names, settings, observer)


class _Messages:
    """The Messages API, at the provider's address or at one's own."""

    package = "anthropic"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._client: AsyncAnthropic | None = None
        self._has_schemas = True

    async def ask(self, model: str, call: StructuredCall, left_s: float) -> Finished:
        import anthropic

        sdk = SdkErrors(
            anthropic.AnthropicError,
            anthropic.APIStatusError,
            anthropic.APIResponseValidationError,
            (anthropic.APIConnectionError, anthropic.RetryableError),
        )
        try:
            return await self._asked(model, call, left_s)
        except caught(sdk) as error:
            raise Failed(read_fault(error, sdk)) from error

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _asked(self, model: str, call: StructuredCall, left_s: float) -> Finished:
        import anthropic

        had_schemas = self._has_schemas
        try:
            message = await self._sent(model, call, left_s, schema=had_schemas)
        except (anthropic.BadRequestError, anthropic.UnprocessableEntityError) as error:
            words = said(error.body)
            is_refused = self._settings.base_url is not None and any(name in words for name in _STRUCTURED)
            if not had_schemas or not is_refused:
                raise
            if self._has_schemas:
                _log.warning("the model service takes no schemas: it is asked for JSON in words from now on")
            self._has_schemas = False
            message = await self._sent(model, call, left_s, schema=False)
        return _finished(message)

    async def _sent(self, model: str, call: StructuredCall, left_s: float, *, schema: bool) -> Message:
        import httpx2

        create = cast("Callable[..., Awaitable[Message]]", self._opened().messages.create)
        request = _request(call) if schema else _plain_request(call)
        if self._settings.base_url is not None:
            # A server of one's own may pass over what it does not know, the schema too; words reach any model.
            request["messages"][0]["content"].append({"type": "text", "text": instruction(call.schema)})
        return await create(
            model=model,
            max_tokens=call.max_tokens,
            timeout=httpx2.Timeout(left_s, connect=min(left_s, CONNECT_S)),
            **request,
        )

    def _opened(self) -> AsyncAnthropic:
        if self._client is None:
            import anthropic

            from engine.llm.bounded import bounded_client

            self._client = anthropic.AsyncAnthropic(
                api_key=self._settings.api_key,
                base_url=self._settings.base_url,
                max_retries=0,
                open_telemetry=False,
                http_client=bounded_client(anthropic.DefaultAsyncHttpxClient),
            )
        return self._client


def _request(call: StructuredCall) -> dict[str, Any]:
    return {
        "system": [{"type": "text", "text": call.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": _content(call)}],
        "output_config": {"effort": call.effort, "format": {"type": "json_schema", "schema": call.schema}},
    }


def _plain_request(call: StructuredCall) -> dict[str, Any]:
    """Only what every server of this protocol knows."""
    content = [{"type": "text", "text": text} for text in call.user]
    return {"system": call.system, "messages": [{"role": "user", "content": content}]}


def _content(call: StructuredCall) -> list[TextBlockParam]:
    blocks: list[TextBlockParam] = []
    for place, text in enumerate(call.user):
        block: TextBlockParam = {"type": "text", "text": text}
        if place in call.marks:
            block["cache_control"] = {"type": "ephemeral"}
        blocks.append(block)
    return blocks


def _finished(message: Message) -> Finished:
    from anthropic.types import Message

    # The SDK gives a string for an HTML body and a Message of Nones for `{}`, without an error.
    if not isinstance(cast("object", message), Message) or not message.stop_reason:
        raise NotAMessage
    try:
        text = "".join(block.text for block in message.content or () if block.type == "text")
        return Finished(_STOPS.get(message.stop_reason, "other"), text, _usage(message))
    except (AttributeError, TypeError, RecursionError) as error:
        # The SDK builds messages without checking types: a gateway may send anything in their place.
        raise NotAMessage from error


def _usage(message: Message) -> TokenUsage:
    # Built without validation by the SDK, so a gateway's reply may lack what the types promise.
    usage = cast("Any", message.usage)
    if usage is None:
        return TokenUsage()
    return TokenUsage(
        input=whole(usage.input_tokens),
        output=whole(usage.output_tokens),
        cache_read=whole(usage.cache_read_input_tokens),
        cache_write=whole(usage.cache_creation_input_tokens),
    )
