"""The port to a language model: one method."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

Effort = Literal["low", "medium", "high"]


class TokenUsage(msgspec.Struct, frozen=True):
    """Tokens of one or more calls; cache reads and writes are part of neither `input` nor `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def total(self) -> int:
        """All four together."""
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def charged(self) -> int:
        """What counts against a budget: what is read from the cache counts a tenth, as providers charge it."""
        return self.input + self.output + self.cache_write + self.cache_read // 10


class StructuredCall(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model whose reply is JSON of a known form.

    Attributes:
        step: name of the agent step, for metrics: ``plan``, ``read``, ``answer``, ``repair``, ``check``, ``clarify``.
        fast: the cheap model instead of the strong one.
        system: the fixed prefix; the same text for every call of a step, so that it can be cached.
        user: the blocks of the one user message, in order.
        marks: places in `user` of blocks that end a part which a later call repeats, so that it can be cached; 3 at
            most.
        schema: JSON schema of the reply, every object closed.
        max_tokens: of the reply, thinking included.
        deadline_s: seconds for the call with all its retries and its wait for a free place.
        effort: how much the model may think.
    """

    step: str
    fast: bool
    system: str
    user: tuple[str, ...]
    marks: tuple[int, ...] = ()
    schema: dict[str, Any]
    max_tokens: int
    deadline_s: float
    effort: Effort = "low"


class Reply(msgspec.Struct, frozen=True):
    """The reply's JSON text, complete, and what it cost."""

    text: str
    usage: TokenUsage


class ChatModel(Protocol):
    """Answers a structured call. Safe to use from many tasks of one event loop."""

    async def complete(self, call: StructuredCall) -> Reply:
        """One complete reply.

        Raises:
            ModelUnavailable: timeout, connection loss, overload or rate limit, after retries.
            ModelRefused: the model declined.
            ModelTruncated: the reply was cut.
            ModelOutputInvalid: the reply is not a message with text.
            ModelMisconfigured: key, account or model name.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections; calls under way end as `ModelUnavailable`."""
        ...
