"""What every `ChatModel` promises; an implementation gets the suite by subclassing."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import msgspec
import pytest

from engine.errors import ModelRefused, ModelTruncated, ModelUnavailable
from engine.llm.json_schema import closed_schema
from engine.llm.protocol import ChatModel, Reply, StructuredCall


class Echo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of these tests: the question again."""

    said: str


def call(text: str, deadline_s: float = 10.0) -> StructuredCall:
    """A call whose answer says `text`, or which is treated as `text` says: ``refuse``, ``cut``, ``hang``."""
    return StructuredCall(
        step="judge",
        fast=False,
        system="Say it again.",
        user=(text,),
        schema=closed_schema(Echo),
        max_tokens=100,
        deadline_s=deadline_s,
    )


class ChatModelContract(ABC):
    """`opened` gives a model that answers as `call` says."""

    @abstractmethod
    def opened(self) -> AbstractContextManager[ChatModel]: ...

    @pytest.fixture
    def model(self) -> Iterator[ChatModel]:
        with self.opened() as model:
            yield model
            asyncio.run(model.aclose())

    def test_a_reply_is_the_whole_json_text_with_its_tokens(self, model: ChatModel) -> None:
        reply = asyncio.run(model.complete(call("hello")))
        assert msgspec.json.decode(reply.text, type=Echo) == Echo("hello")
        assert reply.usage.total > 0

    def test_calls_of_one_loop_do_not_mix(self, model: ChatModel) -> None:
        async def many() -> list[Reply]:
            return await asyncio.gather(*(model.complete(call(f"n{n}")) for n in range(20)))

        said = [msgspec.json.decode(reply.text, type=Echo).said for reply in asyncio.run(many())]
        assert said == [f"n{n}" for n in range(20)]

    def test_a_model_outlives_the_loop_that_first_used_it(self, model: ChatModel) -> None:
        texts = [asyncio.run(model.complete(call("again"))).text for _ in range(3)]
        assert len(set(texts)) == 1

    @pytest.mark.parametrize(("text", "kind"), [("refuse", ModelRefused), ("cut", ModelTruncated)])
    def test_a_reply_that_is_none_is_an_error(self, model: ChatModel, text: str, kind: type[Exception]) -> None:
        with pytest.raises(kind):
            asyncio.run(model.complete(call(text)))

    def test_a_deadline_is_kept(self, model: ChatModel) -> None:
        with pytest.raises(ModelUnavailable):
            asyncio.run(model.complete(call("hang", deadline_s=0.2)))

    def test_a_call_can_be_cancelled(self, model: ChatModel) -> None:
        async def cancel() -> Any:
            task = asyncio.create_task(model.complete(call("hang", deadline_s=60)))
            await asyncio.sleep(0.1)
            task.cancel()
            return await asyncio.gather(task, return_exceptions=True)

        (outcome,) = asyncio.run(cancel())
        assert isinstance(outcome, asyncio.CancelledError)

    def test_a_closed_model_is_unavailable_and_may_be_closed_again(self, model: ChatModel) -> None:
        asyncio.run(model.aclose())
        asyncio.run(model.aclose())
        with pytest.raises(ModelUnavailable):
            asyncio.run(model.complete(call("hello")))
