"""What the documentation and the guards know of a route, written beside its handler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from api.schemas.errors import ErrorCode
from engine import Scope

OPERATION = "operation"
"""The key under which a route handler carries its `Operation`."""


ANY_KEY: Literal["any"] = "any"
"""In place of a scope: every valid key may."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter: its JSON Schema, and what it does."""

    name: str
    schema: dict[str, Any]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    Attributes:
        id: unique; clients name their functions after it.
        scope: what the key must allow; `ANY_KEY` for nothing more than being valid; None needs no key.
        body: the type of the request body; None takes none.
        takes_file: the body is a file, bytes of any kind.
        answer: the type of the success body, or a JSON Schema.
        media: the media type of the success body.
        stream: the success may also be server-sent events.
        errors: codes beside those that every route shares.
    """

    id: str
    tag: str
    summary: str
    description: str = ""
    scope: Scope | Literal["any"] | None = None
    body: Any = None
    takes_file: bool = False
    answer: Any = None
    status: int = 200
    media: str = "application/json"
    stream: bool = False
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[ErrorCode, ...] = ()
    examples: dict[str, Any] = field(default_factory=dict[str, Any])
