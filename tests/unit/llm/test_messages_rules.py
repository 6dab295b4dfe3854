"""The fake refuses what the service is documented to refuse; otherwise the golden requests would prove little."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.fakes.messages_rules import first_refusal

KEYS = frozenset({"k"})
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
GOOD: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "u"}]}],
    "output_config": {
        "effort": "low",
        "format": {
            "type": "json_schema",
            "schema": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        },
    },
}
MARK = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}


def changed(path: str, value: Any) -> dict[str, Any]:
    body = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    node = body
    for name in parents:
        node = node.setdefault(name, {})
    node[last] = value
    return body


def test_a_good_request_is_accepted() -> None:
    assert first_refusal(HEADERS, GOOD, KEYS) is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong", "anthropic-version": "x"}, 401),
        ({"authorization": "k", "anthropic-version": "x"}, 401),
        ({"authorization": "Bearer k"}, 400),
    ],
)
def test_a_key_and_a_version_are_needed(headers: dict[str, str], status: int) -> None:
    refusal = first_refusal(headers, GOOD, KEYS)
    assert refusal is not None
    assert refusal[1].status == status


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("model", "claude-unknown", "model"),
        ("temperature", 0.0, "sampling parameters"),
        ("top_p", 1.0, "sampling parameters"),
        ("top_k", 5, "sampling parameters"),
        ("prompt", "x", "unknown field"),
        ("max_tokens", 0, "max_tokens"),
        ("messages", [], "no messages"),
        ("messages", [{"role": "assistant", "content": []}, *GOOD["messages"]], "first role"),
        ("messages", [*GOOD["messages"], {"role": "assistant", "content": []}], "prefill"),
        ("messages", [{"role": "user", "content": [{"type": "text", "text": " "}]}], "empty text"),
        ("messages", [{"role": "user", "content": [MARK] * 4}], "cache marks"),
        ("tool_choice", {"type": "any"}, "forced tools"),
        ("tool_choice", {"type": "tool", "name": "x"}, "forced tools"),
        ("thinking", {"type": "enabled", "budget_tokens": 9}, "thinking budget"),
        ("output_config.effort", "some", "effort"),
        ("output_config.format.type", "json", "format"),
        ("output_config.format.schema.additionalProperties", True, "open object"),
        ("output_config.format.schema.properties", {"x": {"type": "object"}}, "open object"),
        (
            "output_config.format.schema.properties",
            {"x": {"type": "array", "items": {"type": "object"}}},
            "open object",
        ),
        ("output_config.format.schema.properties", {"x": {"type": "integer", "minimum": 1}}, "schema keyword"),
        (
            "messages",
            [{"role": "user", "content": [{"type": "search_result", "citations": {"enabled": True}}]}],
            "citations with a format",
        ),
    ],
)
def test_a_request_is_refused_by_the_rule_that_it_breaks(path: str, value: Any, rule: str) -> None:
    refusal = first_refusal(HEADERS, changed(path, value), KEYS)
    assert refusal is not None
    assert refusal[0] == rule


def test_thinking_cannot_be_switched_off_on_the_largest_model() -> None:
    body = changed("thinking", {"type": "disabled"}) | {"model": "claude-opus-5-5"}
    refusal = first_refusal(HEADERS, body, KEYS)
    assert refusal is not None
    assert refusal[0] == "disabled thinking"
