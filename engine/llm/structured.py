"""One call that gives a typed value."""

from __future__ import annotations

from asyncio import get_running_loop
from typing import TypeVar

import msgspec

from engine.errors import ModelOutputInvalid
from engine.llm.json_schema import closed_schema
from engine.llm.protocol import ChatModel, StructuredCall, TokenUsage

T = TypeVar("T")


async def structured(model: ChatModel, call: StructuredCall, reply: type[T]) -> tuple[T, TokenUsage]:
    """Ask for a `reply` and decode it; a reply of another form is asked for once more within the deadline.

    Args:
        call: its `schema` is replaced by that of `reply`.
        reply: a struct that forbids unknown fields and has no defaults, like all structs within it.

    Returns:
        The value, and the tokens of all attempts.

    Raises:
        ModelOutputInvalid: two replies did not have the form; `tokens` counts both.
        ModelError: whatever `ChatModel.complete` raises.
    """
    clock = get_running_loop().time
    end = clock() + call.deadline_s
    usage = TokenUsage()
    attempt = msgspec.structs.replace(call, schema=closed_schema(reply))
    for last in (False, True):
        try:
            answer = await model.complete(attempt)
        except ModelOutputInvalid as error:
            # The model retries a broken transport itself; what it raises in the end counts the earlier reply too.
            error.tokens += usage.total
            raise
        usage += answer.usage
        try:
            return msgspec.json.decode(answer.text, type=reply), usage
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            left = end - clock()
            if last or left <= 0:
                raise ModelOutputInvalid(
                    f"The reply to the {call.step} step is not of the form asked for.", tokens=usage.total
                ) from error
            attempt = msgspec.structs.replace(attempt, deadline_s=left)
    raise AssertionError("unreachable")
