"""A model that replays a script: for tests, and for yours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from engine.errors import ModelUnavailable
from engine.llm.protocol import Reply, StructuredCall, TokenUsage

Answer: TypeAlias = "str | Mapping[str, Any] | msgspec.Struct | Exception"
"""What one call gives: JSON text, a value that is encoded as JSON, or an error that is raised."""


class ScriptedModel:
    """Gives the answers of a script in order, or computes each from its call.

    Attributes:
        calls: every call so far, in order.

    >>> import asyncio
    >>> model = ScriptedModel([{"sufficient": True}])
    >>> call = StructuredCall(step="judge", fast=False, system="", user=("?",), schema={}, max_tokens=9, deadline_s=1)
    >>> asyncio.run(model.complete(call)).text
    '{"sufficient":true}'
    """

    def __init__(
        self,
        script: Iterable[Answer] | Callable[[StructuredCall], Answer],
        *,
        usage: TokenUsage | None = None,
        delay_s: float | Callable[[StructuredCall], float] = 0.0,
    ) -> None:
        """A script that has run out raises `ModelUnavailable`, as does one that a closed model is asked for.

        Args:
            usage: what each reply costs; None is 100 tokens in and 20 out.
            delay_s: how long a reply takes, or how to tell from its call; beyond the call's deadline it is
                `ModelUnavailable`.
        """
        self.calls: list[StructuredCall] = []
        self._usage = usage or TokenUsage(input=100, output=20)
        self._delay_s = delay_s
        self._closed = False
        self._answer = script if callable(script) else _in_order(script)

    async def complete(self, call: StructuredCall) -> Reply:
        self.calls.append(call)
        if self._closed:
            raise ModelUnavailable("The model is closed.")
        delay_s = self._delay_s(call) if callable(self._delay_s) else self._delay_s
        await asyncio.sleep(min(delay_s, call.deadline_s))
        if delay_s > call.deadline_s:
            raise ModelUnavailable("The model did not answer in time.")
        answer = self._answer(call)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        return Reply(text=text, usage=self._usage)

    async def aclose(self) -> None:
        self._closed = True


def _in_order(script: Iterable[Answer]) -> Callable[[StructuredCall], Answer]:
    rest = iter(script)

    def answer(_: StructuredCall) -> Answer:
        return next(rest, ModelUnavailable("The script has ended."))

    return answer
