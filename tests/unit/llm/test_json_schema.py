from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from engine.agent.claude.answer import AnswerReply
from engine.agent.claude.check import CheckReply
from engine.agent.claude.clarify import ClarifyReply
from engine.agent.claude.plan import PlanReply
from engine.agent.claude.read import ReadReply
from engine.llm.json_schema import closed_schema
from tests.fakes.messages_rules import first_refusal

HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}


class Point(msgspec.Struct, forbid_unknown_fields=True):
    x: int
    side: Literal["left", "right"]


class Line(msgspec.Struct, forbid_unknown_fields=True):
    points: tuple[Point, ...]
    label: str | None


class Open(msgspec.Struct):
    x: int


class Optional(msgspec.Struct, forbid_unknown_fields=True):
    x: int = 1


class Bounded(msgspec.Struct, forbid_unknown_fields=True):
    x: int
    names: list[str] = msgspec.field(default_factory=list)


class Tree(msgspec.Struct, forbid_unknown_fields=True):
    children: list[Tree]


def test_references_are_resolved_and_every_object_is_closed() -> None:
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "side": {"enum": ["left", "right"]}},
        "required": ["x", "side"],
        "additionalProperties": False,
    }
    assert closed_schema(Line) == {
        "type": "object",
        "properties": {
            "points": {"type": "array", "items": point},
            "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["points", "label"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("reply", [Open, Optional, Bounded, Tree, dict[str, int]])
def test_what_structured_output_cannot_express_is_refused(reply: type) -> None:
    with pytest.raises(ValueError):
        closed_schema(reply)


def test_each_caller_gets_a_schema_of_its_own() -> None:
    closed_schema(Point)["properties"].clear()
    assert closed_schema(Point)["properties"]


@pytest.mark.parametrize("reply", [PlanReply, ReadReply, CheckReply, AnswerReply, ClarifyReply])
def test_every_reply_of_a_step_has_a_schema_that_the_service_takes(reply: type) -> None:
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "?"}]}],
        "output_config": {"format": {"type": "json_schema", "schema": closed_schema(reply)}},
    }
    assert first_refusal(HEADERS, body, frozenset({"k"})) is None
