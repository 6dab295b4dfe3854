"""What the fake Messages server may do with a request."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Framing = Literal["length", "chunked", "close"]
_ids = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """A message. `value` is text, or JSON that is encoded as the text.

    Attributes:
        texts: how many text blocks the text is split into.
        thinking: a thinking block first, as models with adaptive thinking send it.
    """

    value: Any
    stop_reason: str | None = "end_turn"
    stop_details: Mapping[str, Any] | None = None
    thinking: bool = True
    texts: int = 1
    input_tokens: int = 100
    output_tokens: int = 20
    cache_read: int = 0
    cache_write: int = 0
    delay_s: float = 0.0

    def body(self, model: str) -> bytes:
        """The message as the service sends it."""
        text = self.value if isinstance(self.value, str) else json.dumps(self.value)
        step = -(-len(text) // self.texts) or 1
        parts = [text[start : start + step] for start in range(0, len(text), step)]
        content: list[dict[str, Any]] = [{"type": "text", "text": part} for part in parts]
        if self.thinking:
            content.insert(0, {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"})
        message = {
            "id": f"msg_{next(_ids):06}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": self.stop_reason,
            "stop_sequence": None,
            "stop_details": self.stop_details,
            "usage": {
                "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens,
                "cache_read_input_tokens": self.cache_read,
                "cache_creation_input_tokens": self.cache_write,
            },
        }
        return json.dumps(message).encode()


@dataclass(frozen=True)
class Refuse:
    """An error of the service."""

    status: int
    type: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "wording that must not be matched"

    def body(self) -> bytes:
        """The error body."""
        error = {"type": self.type, "message": self.message}
        return json.dumps({"type": "error", "error": error, "request_id": f"req_{next(_ids):06}"}).encode()


@dataclass(frozen=True)
class Raw:
    """Any body."""

    content: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """An answer whose body ends after `after` bytes.

    Attributes:
        framing: ``length`` and ``chunked`` let the client see that it is cut, ``close`` does not.
        reset: end the connection with RST instead of FIN.
    """

    answer: Answer
    after: int
    framing: Framing = "length"
    reset: bool = False


@dataclass(frozen=True)
class Reset:
    """RST before any header."""


@dataclass(frozen=True)
class Hang:
    """Nothing more is sent: before the headers, or after so many bytes of an answer's body."""

    answer: Answer | None = None
    after: int = 0


Act: TypeAlias = Answer | Refuse | Raw | Cut | Reset | Hang


@dataclass
class Received:
    """A request as it came in.

    Attributes:
        refused: the rule that it broke, if any.
        went_away: the client closed the connection before it had the whole answer.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    refused: str | None = None
    went_away: bool = False

    @property
    def prompt(self) -> str:
        """System and user text together."""
        return self.system + "\n" + self.user

    @property
    def system(self) -> str:
        """The system text."""
        if isinstance(system := self.body.get("system", ()), str):
            return system
        if self.body["messages"][0]["role"] == "system":
            return self.body["messages"][0]["content"]
        return "\n".join(block["text"] for block in self.body.get("system", ()))

    @property
    def user(self) -> str:
        """The text of the user blocks."""
        messages = self.body["messages"]
        if isinstance(messages[-1]["content"], str):
            return messages[-1]["content"]
        return "\n".join(block["text"] for message in messages for block in message["content"])

    @property
    def asked(self) -> str:
        """The user text without the schema in words, which a server of one's own is sent."""
        return self.user.partition("Reply with exactly one JSON object")[0].strip()


Script: TypeAlias = Sequence[Act] | Callable[[Received], Act]
