"""OpenAI's chat completions on loopback, and servers that speak its protocol with less; otherwise as `FakeMessages`.

with FakeChat([Answer({"ready": True})]) as server:
    ModelSettings(model="openai:gpt-6-astra", api_key=server.key, base_url=server.url)
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.fakes.chat_rules import error, first_refusal
from tests.fakes.messages_replies import Act, Answer, Received, Script
from tests.fakes.messages_server import FakeMessages

STRONG, FAST = "gpt-6-astra", "gpt-5.4-mini"
_STOPS = {
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_ids = itertools.count(1)


class FakeChat(FakeMessages):
    """Chat completions as OpenAI serves them."""

    route = "/v1/chat/completions"

    @property
    def url(self) -> str:
        return super().url + "/v1"

    def refusal(self, received: Received) -> tuple[str, Act] | None:
        return first_refusal(received.headers, received.body, frozenset({self.key}))

    def written(self, answer: Answer, model: str) -> bytes:
        text = answer.value if isinstance(answer.value, str) else json.dumps(answer.value)
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        reason = answer.stop_reason
        if reason == "refusal":
            message |= {"content": None, "refusal": "I cannot help with that."}
            reason = "stop"
        cached = answer.cache_read
        completion = {
            "id": f"chatcmpl-{next(_ids):06}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": model,
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": _STOPS.get(reason or "", reason)}
            ],
            "usage": {
                "prompt_tokens": answer.input_tokens + cached + answer.cache_write,
                "completion_tokens": answer.output_tokens,
                "total_tokens": answer.input_tokens + cached + answer.cache_write + answer.output_tokens,
                "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": answer.cache_write},
                "completion_tokens_details": {"reasoning_tokens": answer.output_tokens // 2},
            },
        }
        return json.dumps(completion).encode()


class FakeLocal(FakeChat):
    """A server of one's own: any key, any model name, every parameter but those that it refuses.

    Args:
        refuses: parameters that are refused by name.
    """

    def __init__(self, script: Script, *, refuses: tuple[str, ...] = ()) -> None:
        super().__init__(script)
        self._refuses = refuses

    def refusal(self, received: Received) -> tuple[str, Act] | None:
        for name in self._refuses:
            if name in received.body:
                return name, error(400, f"This {name} is unavailable now", None, "invalid_request_error")
        return None
