"""msgspec type → the JSON schema that structured output accepts.

The provider compiles the schema into a grammar and so takes only a part of JSON Schema: every object is closed and
names all its keys as required; there are no bounds of length, number or pattern, and no recursion.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

_KEPT = frozenset({"type", "enum", "const", "description", "required", "additionalProperties"})
_DROPPED = frozenset({"title"})


@lru_cache(maxsize=64)
def _of_type(reply: type) -> bytes:
    schema = msgspec.json.schema(reply)
    definitions: dict[str, Any] = schema.pop("$defs", {})
    return msgspec.json.encode(_closed(schema, definitions, ()))


def closed_schema(reply: type) -> dict[str, Any]:
    """The schema of a struct type, references resolved; a fresh dict each time.

    Raises:
        ValueError: the type needs what structured output does not have: open objects, optional keys, bounds, recursion.
    """
    return msgspec.json.decode(_of_type(reply))


def _closed(node: dict[str, Any], definitions: dict[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in above:
            raise ValueError(f"the reply type {name} contains itself")
        return _closed(definitions[name], definitions, (*above, name))
    closed: dict[str, Any] = {key: value for key, value in node.items() if key in _KEPT}
    if "properties" in node:
        closed["properties"] = {name: _closed(child, definitions, above) for name, child in node["properties"].items()}
    if "items" in node:
        closed["items"] = _closed(node["items"], definitions, above)
    if "anyOf" in node:
        closed["anyOf"] = [_closed(child, definitions, above) for child in node["anyOf"]]
    unknown = set(node) - set(closed) - _DROPPED
    if unknown:
        raise ValueError(f"structured output has no keyword {min(unknown)!r}")
    if node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            raise ValueError("an object of a reply must forbid unknown fields")
        if set(node.get("required", ())) != set(node.get("properties", {})):
            raise ValueError("every field of a reply must be required")
    return closed
