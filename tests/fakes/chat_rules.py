"""What OpenAI's chat completions refuse, as rules over one request; only the part that this project could break."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.messages_replies import Raw

THINKING = frozenset({"gpt-6-astra", "gpt-5.4-mini"})
"""Models that think: no ``max_tokens``, no sampling, and thinking counts against the limit."""
TALKING = frozenset({"gpt-4o"})
"""Models that do not think, and refuse to be told how much."""

_FIELDS = frozenset(
    {
        *("messages", "model", "max_tokens", "max_completion_tokens", "reasoning_effort", "response_format"),
        *("n", "seed", "stop", "store", "stream", "stream_options", "temperature", "tools", "tool_choice", "top_p"),
        *("user", "verbosity", "metadata", "parallel_tool_calls", "service_tier", "prompt_cache_key"),
    }
)
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh"})
_LEAST_OF_THINKING = 16
_KEYWORDS = frozenset(
    {
        *("type", "properties", "items", "anyOf", "enum", "const", "description", "title", "required", "$ref", "$defs"),
        *("additionalProperties", "format", "pattern", "minimum", "maximum", "minItems", "maxItems", "multipleOf"),
    }
)


def error(status: int, message: str, param: str | None = None, code: str | None = None) -> Raw:
    """An error as the service sends it."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}
    return Raw(json.dumps(body).encode(), status=status)


def first_refusal(headers: Mapping[str, str], body: Any, keys: frozenset[str]) -> tuple[str, Raw] | None:
    """The first rule that the request breaks, by name; None when it would be accepted."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or key not in keys:
        return "key", error(401, "Incorrect API key provided.", None, "invalid_api_key")
    if not isinstance(body, dict):
        return "body", error(400, "We could not parse the JSON body of your request.")
    if body.get("model") not in THINKING | TALKING:
        return "model", error(404, "The model does not exist or you do not have access to it.", None, "model_not_found")
    return next(_broken(body), None)


def _broken(body: Mapping[str, Any]) -> Iterator[tuple[str, Raw]]:
    for name in sorted(set(body) - _FIELDS):
        yield "unknown field", error(400, f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    yield from _broken_messages(body.get("messages"))
    if body["model"] in THINKING:
        yield from _broken_for_thinking(body)
    elif "reasoning_effort" in body:
        yield "effort", error(400, "Unrecognized request argument supplied: reasoning_effort")
    if body.get("reasoning_effort", "low") not in _EFFORTS:
        yield "effort", error(400, "Invalid value for 'reasoning_effort'.", "reasoning_effort", "invalid_value")
    for name in ("max_tokens", "max_completion_tokens"):
        if not isinstance(body.get(name, 1), int) or body.get(name, 1) < 1:
            yield "limit", error(400, f"Invalid '{name}': below the minimum.", name, "integer_below_min_value")
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield "two limits", error(400, "Setting 'max_tokens' and 'max_completion_tokens' at once is not supported.")
    if "response_format" in body:
        yield from _broken_format(body["response_format"])


def _broken_for_thinking(body: Mapping[str, Any]) -> Iterator[tuple[str, Raw]]:
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        yield "older limit", error(400, message, "max_tokens", "unsupported_parameter")
    if body.get("temperature", 1) != 1 or body.get("top_p", 1) != 1:
        yield "sampling", error(400, "Unsupported value: 'temperature'.", "temperature", "unsupported_value")
    if body.get("max_completion_tokens", _LEAST_OF_THINKING) < _LEAST_OF_THINKING:
        message = "Could not finish the message because max_tokens or model output limit was reached."
        yield "small limit", error(400, message)


def _broken_messages(messages: Any) -> Iterator[tuple[str, Raw]]:
    if not isinstance(messages, list) or not messages:
        yield "no messages", error(400, "Invalid 'messages': empty array.", "messages", "empty_array")
        return
    for message in messages:
        if message.get("role") not in _ROLES:
            yield "role", error(400, "Invalid value for 'role'.", "messages", "invalid_value")
        if not isinstance(message.get("content"), str | list) or not message["content"]:
            yield "content", error(400, "Invalid value for 'content': expected a string.", "messages")


def _broken_format(form: Any) -> Iterator[tuple[str, Raw]]:
    described = form.get("json_schema")
    if form.get("type") != "json_schema" or not isinstance(described, dict):
        yield "format", error(400, "Invalid value for 'response_format.type'.", "response_format.type", "invalid_value")
        return
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", described.get("name", "")):
        yield "format name", error(400, "Invalid 'response_format.json_schema.name'.", "response_format", "invalid")
    schema = described.get("schema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "root", _bad_schema("schema must be a JSON Schema of 'type: \"object\"'")
    elif described.get("strict"):
        for broken in _broken_schema(schema):
            yield "schema", _bad_schema(broken)


def _bad_schema(why: str) -> Raw:
    return error(400, f"Invalid schema for response_format 'x': In context=(), {why}.", "response_format")


def _broken_schema(node: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(set(node) - _KEYWORDS):
        yield f"'{name}' is not permitted"
    if node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            yield "'additionalProperties' is required to be supplied and to be false"
        if set(node.get("required", ())) != set(node.get("properties", {})):
            yield "'required' is required to be supplied and to be an array including every key in properties"
    if node.get("type") == "array" and "items" not in node:
        yield "array schema missing items"
    children = [*node.get("properties", {}).values(), *node.get("anyOf", ()), *node.get("$defs", {}).values()]
    for child in [*children, *([node["items"]] if "items" in node else [])]:
        yield from _broken_schema(child)
