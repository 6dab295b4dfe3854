"""What the Messages API refuses, as rules over one request; only the part that this project could break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.messages_replies import Refuse

MODELS = frozenset({"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"})
_FIELDS = frozenset(
    {
        *("max_tokens", "messages", "model", "cache_control", "container", "diagnostics", "inference_geo"),
        *("metadata", "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking"),
        *("tool_choice", "tools"),
    }
)
_SAMPLING = ("temperature", "top_p", "top_k")
_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_NO_FORCED_TOOLS = frozenset({"claude-sonnet-5-5", "claude-opus-5-5"})
_SCHEMA_KEYWORDS = frozenset(
    {
        *("type", "properties", "items", "anyOf", "allOf", "enum", "const", "description", "title", "required"),
        *("additionalProperties", "format", "$ref", "$defs", "default"),
    }
)
_MAX_CACHE_MARKS = 4


def first_refusal(headers: Mapping[str, str], body: Any, keys: frozenset[str]) -> tuple[str, Refuse] | None:
    """The first rule that the request breaks, by name; None when it would be accepted."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or key not in keys:
        return "key", Refuse(401, "authentication_error")
    if not headers.get("anthropic-version"):
        return "version", Refuse(400, "invalid_request_error")
    if not isinstance(body, dict):
        return "body", Refuse(400, "invalid_request_error")
    if body.get("model") not in MODELS:
        return "model", Refuse(404, "not_found_error")
    broken = next(_broken(body), None)
    return (broken, Refuse(400, "invalid_request_error")) if broken else None


def _broken(body: Mapping[str, Any]) -> Iterator[str]:
    if any(name in body for name in _SAMPLING):
        yield "sampling parameters"
    if set(body) - _FIELDS:
        yield "unknown field"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens"
    yield from _broken_messages(body)
    if body.get("tool_choice", {}).get("type") in ("any", "tool") and body["model"] in _NO_FORCED_TOOLS:
        yield "forced tools"
    thinking = body.get("thinking", {})
    if thinking.get("type") == "disabled" and body["model"] == "claude-opus-5-5":
        yield "disabled thinking"
    if "budget_tokens" in thinking:
        yield "thinking budget"
    config = body.get("output_config", {})
    if config.get("effort", "low") not in _EFFORTS:
        yield "effort"
    if "format" in config:
        yield from _broken_format(config["format"], body)
    if sum(1 for node in _nodes(body) if "cache_control" in node) > _MAX_CACHE_MARKS:
        yield "cache marks"


def _broken_messages(body: Mapping[str, Any]) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "no messages"
        return
    if messages[0].get("role") != "user":
        yield "first role"
    if messages[-1].get("role") == "assistant":
        yield "prefill"
    system = body.get("system", ())
    blocks = [*([] if isinstance(system, str) else system), *(block for m in messages for block in m["content"])]
    if any(block.get("type") == "text" and not block.get("text", "").strip() for block in blocks):
        yield "empty text"


def _broken_format(form: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    if form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        yield "format"
        return
    if any(node.get("citations", {}).get("enabled") for node in _nodes(body["messages"])):
        yield "citations with a format"
    yield from _broken_schema(form["schema"])


def _broken_schema(node: Mapping[str, Any]) -> Iterator[str]:
    if set(node) - _SCHEMA_KEYWORDS:
        yield "schema keyword"
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        yield "open object"
    children = [*node.get("properties", {}).values(), *node.get("anyOf", ()), *node.get("$defs", {}).values()]
    if "items" in node:
        children.append(node["items"])
    for child in children:
        yield from _broken_schema(child)


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object inside `value`."""
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from _nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from _nodes(child)
