from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.errors import ModelRefused, ModelTruncated
from engine.llm.claude import ClaudeModel
from engine.llm.openai import OpenAIModel
from engine.llm.protocol import ChatModel, StructuredCall
from engine.llm.scripted import ScriptedModel
from engine.settings import ModelSettings
from tests.contracts.chat_model import ChatModelContract
from tests.fakes.chat_server import STRONG, FakeChat, FakeLocal
from tests.fakes.messages_replies import Act, Answer, Hang, Received
from tests.fakes.messages_server import FakeMessages


def answer(received: Received) -> Act:
    match received.asked:
        case "refuse":
            return Answer("No.", stop_reason="refusal")
        case "cut":
            return Answer('{"said', stop_reason="max_tokens")
        case "hang":
            return Hang()
        case text:
            return Answer({"said": text})


class TestClaude(ChatModelContract):
    @contextmanager
    def opened(self) -> Iterator[ChatModel]:
        with FakeMessages(answer) as server:
            model = ClaudeModel(ModelSettings(api_key=server.key, base_url=server.url))
            yield model
            model.close()


class TestOpenAI(ChatModelContract):
    """Chat completions as the provider serves them."""

    @contextmanager
    def opened(self) -> Iterator[ChatModel]:
        with FakeChat(answer) as server:
            model = OpenAIModel(ModelSettings(model=f"openai:{STRONG}", api_key=server.key, base_url=server.url))
            yield model
            model.close()


class TestOpenAIOnAServerOfOnesOwn(ChatModelContract):
    """A server without a key that refuses schemas and knows nothing of effort."""

    @contextmanager
    def opened(self) -> Iterator[ChatModel]:
        with FakeLocal(answer, refuses=("response_format", "reasoning_effort")) as server:
            model = OpenAIModel(ModelSettings(model="openai:llama3", base_url=server.url))
            yield model
            model.close()


class TestScripted(ChatModelContract):
    @contextmanager
    def opened(self) -> Iterator[ChatModel]:
        def answer(call: StructuredCall) -> Any:
            match call.user[0]:
                case "refuse":
                    return ModelRefused("No.")
                case "cut":
                    return ModelTruncated("Cut.")
                case text:
                    return {"said": text}

        yield ScriptedModel(answer, delay_s=lambda call: 3_600.0 if call.user == ("hang",) else 0.0)
