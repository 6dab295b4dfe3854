"""Models behind OpenAI's chat completions, which many servers speak. The SDK is an extra and is imported late.

OpenAI itself, or a server of one's own (Ollama, vLLM, LM Studio, llama.cpp) at another address. Servers differ in what
they take, and say so when they refuse a parameter; a parameter that was refused by name is not sent to that model
again (`Dialect`). Everything else that goes wrong is an ordinary error.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from engine.errors import ModelMisconfigured, ModelRefused, ModelTruncated
from engine.llm.faults import Fault, NotAMessage, SdkErrors, caught, read_fault, said
from engine.llm.plain_json import instruction
from engine.llm.protocol import StructuredCall, TokenUsage
from engine.llm.remote import CONNECT_S, Failed, Finished, RemoteModel, Stop, whole
from engine.model.observer import Observer
from engine.settings import ModelSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

_log = logging.getLogger(__name__)

DEFAULT_URL = "https://api.openai.com/v1"

_SCHEMA_NAMES = ("response_format", "json_schema", "json schema", "structured output", "grammar")
_EFFORT_NAMES = ("reasoning_effort", "reasoning effort", "thinking", "reasoning.effort")
_OLDER, _NEWER = "max_tokens", "max_completion_tokens"
_TOO_LONG = ("context_length_exceeded", "context length", "context window", "context size", "output limit was reached")
_DECLINED = ("content_filter", "content_policy_violation", "content management policy")
_UNPAID = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")

_STOPS: dict[str, Stop] = {
    "stop": "answered",
    "content_filter": "refused",
    "length": "cut",
}


class Dialect(msgspec.Struct, frozen=True):
    """What a server takes for one model.

    Attributes:
        schema: a JSON schema in ``response_format``; without it the schema is asked for in words.
        effort: ``reasoning_effort``.
        limit: the parameter that bounds the reply. OpenAI's models that think refuse the older name, ``max_tokens``;
            servers of one's own may know only that one, and pass over the other without a word.
    """

    schema: bool = True
    effort: bool = True
    limit: str = _NEWER

    def without(self, words: str) -> Dialect:
        """What is left after a refusal that says `words`; itself where they name nothing that was sent."""
        if self.limit == _OLDER and all(name in words for name in (_OLDER, _NEWER)):
            # The refusal of the older name tells the newer one; a complaint about its value names it alone.
            return msgspec.structs.replace(self, limit=_NEWER)
        if self.schema and any(name in words for name in _SCHEMA_NAMES):
            return msgspec.structs.replace(self, schema=False)
        if self.effort and any(name in words for name in _EFFORT_NAMES):
            return msgspec.structs.replace(self, effort=False)
        return self


class OpenAIModel(RemoteModel):
    """`ChatModel` on chat completions."""

    def __init__(self, settings: ModelSettings, observer: Observer | None = None) -> None:
        """See `RemoteModel`.

        Args:
            settings: models are named ``openai:NAME``. Without `base_url` it is OpenAI's own address; without
                `api_key` a key is sent that no one knows, because servers of one's own mostly ask for none.
            observer: see `RemoteModel`.
        """
        super().__init__(_Completions(settings), settings.names, settings, observer)


class _Completions:
    """Chat completions, at OpenAI's address or at one's own."""

    package = "openai"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._client: AsyncOpenAI | None = None
        # Servers of one's own are sure to know the older name only.
        self._first = Dialect(limit=_NEWER if settings.base_url is None else _OLDER)
        self._dialects: dict[str, Dialect] = {}

    async def ask(self, model: str, call: StructuredCall, left_s: float) -> Finished:
        try:
            import openai
        except ImportError as error:
            missing = ModelMisconfigured("This model needs the extra 'openai': pip install 'quarry-search[openai]'.")
            raise Failed(Fault(missing, 0)) from error

        sdk = SdkErrors(
            openai.OpenAIError, openai.APIStatusError, openai.APIResponseValidationError, (openai.APIConnectionError,)
        )
        try:
            return await self._asked(model, call, left_s)
        except openai.APIStatusError as error:
            raise Failed(_named_fault(said(error.body)) or read_fault(error, sdk)) from error
        except caught(sdk) as error:
            raise Failed(read_fault(error, sdk)) from error

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _asked(self, model: str, call: StructuredCall, left_s: float) -> Finished:
        import openai

        dialect = known = self._dialects.get(model, self._first)
        while True:
            try:
                completion = await self._sent(model, call, left_s, dialect)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                words = said(error.body)
                poorer = dialect if _named_fault(words) else dialect.without(words)
                if poorer == dialect:
                    raise
                dialect = poorer
            else:
                break
        if dialect != known:
            _log.warning("the model service refused a parameter for %s; from now on it is sent %s", model, dialect)
            self._dialects[model] = dialect
        return _finished(completion)

    async def _sent(self, model: str, call: StructuredCall, left_s: float, dialect: Dialect) -> ChatCompletion:
        import httpx2

        create = cast("Callable[..., Awaitable[ChatCompletion]]", self._opened().chat.completions.create)
        in_words = not dialect.schema or self._settings.base_url is not None
        # A server of one's own may pass over what it does not know, the schema too; words reach any model.
        user = (*call.user, instruction(call.schema)) if in_words else call.user
        return await create(
            model=model,
            messages=[
                {"role": "system", "content": call.system},
                # One text, because not every server takes blocks. What repeats stands first, where caches look.
                {"role": "user", "content": "\n\n".join(user)},
            ],
            timeout=httpx2.Timeout(left_s, connect=min(left_s, CONNECT_S)),
            **_options(call, dialect),
        )

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            import openai

            from engine.llm.bounded import bounded_client

            self._client = openai.AsyncOpenAI(
                # The client insists on a key, also where the server asks for none.
                api_key=self._settings.api_key or "none",
                base_url=self._settings.base_url or DEFAULT_URL,
                max_retries=0,
                http_client=bounded_client(openai.DefaultAsyncHttpxClient),
            )
        return self._client


def _options(call: StructuredCall, dialect: Dialect) -> dict[str, Any]:
    options: dict[str, Any] = {dialect.limit: call.max_tokens}
    if dialect.effort:
        options["reasoning_effort"] = call.effort
    if dialect.schema:
        form = {"name": call.step, "schema": call.schema, "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": form}
    return options


def _named_fault(words: str) -> Fault | None:
    """What a refusal means that says more than its status; None where it does not."""
    if any(name in words for name in _TOO_LONG):
        return Fault(ModelTruncated("Prompt and reply do not fit the language model."), 0)
    if any(name in words for name in _DECLINED):
        return Fault(ModelRefused("The language model declined to answer."), 0)
    if any(name in words for name in _UNPAID):
        return Fault(ModelMisconfigured("The account at the model service cannot be billed."), 0)
    return None


def _finished(message: ChatCompletion) -> Finished:
    from openai.types.chat import ChatCompletion

    # The SDK gives a string for an HTML body and a completion of Nones for `{}`, without an error.
    if not isinstance(cast("object", message), ChatCompletion) or not message.choices:
        raise NotAMessage
    try:
        choice = message.choices[0]
        if not choice.finish_reason:
            raise NotAMessage
        said_instead = choice.message.refusal
        stop: Stop = "refused" if said_instead else _STOPS.get(choice.finish_reason, "other")
        return Finished(stop, _text(choice.message.content), _usage(message))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        # The SDK builds messages without checking types: a gateway may send anything in their place.
        raise NotAMessage from error


def _text(content: object) -> str:
    if content is None:
        return ""
    if not isinstance(content, str):
        raise TypeError("the content is no text")
    return content


def _usage(message: ChatCompletion) -> TokenUsage:
    # Built without validation by the SDK, so a gateway's reply may lack what the types promise.
    usage = cast("Any", message.usage)
    prompt = whole(getattr(usage, "prompt_tokens", None))
    details = getattr(usage, "prompt_tokens_details", None)
    read = min(prompt, whole(getattr(details, "cached_tokens", None)))
    written = min(prompt - read, whole(getattr(details, "cache_write_tokens", None)))
    return TokenUsage(
        input=prompt - read - written,
        output=whole(getattr(usage, "completion_tokens", None)),
        cache_read=read,
        cache_write=written,
    )
