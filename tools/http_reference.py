"""Writes the HTTP reference as a page of Markdown, from the same OpenAPI document that the server gives.

``python -m tools.http_reference docs/reference/http.md``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from api.app import create_app
from api.settings import Settings

HEAD = """# HTTP reference

Made from the OpenAPI document of this version; a server gives its own at `/openapi.json`, and as a page at `/docs`.
[HTTP](../http.md) shows it at work. Requests under `/v1` carry `Authorization: Bearer <API key>`.
"""


def reference(document: dict[str, Any]) -> str:
    """The page: a section for each tag, with a part for each operation, and the schemas."""
    parts = [HEAD]
    for tag in (tag["name"] for tag in document["tags"]):
        parts.append(f"## {tag}\n")
        for path, methods in document["paths"].items():
            parts += [_operation(m, path, operation) for m, operation in methods.items() if tag in operation["tags"]]
    parts.append("## Schemas\n")
    parts += [_schema(name, schema) for name, schema in document["components"]["schemas"].items()]
    return "\n".join(parts)


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### {operation['summary']}\n", f"`{method.upper()} {path}`\n", f"{operation['description']}\n"]
    parameters = [
        (f"`{p['name']}`", p["in"], _type(p["schema"]), p["description"]) for p in operation.get("parameters", [])
    ]
    lines += _table(("Name", "In", "Type", "Meaning"), parameters)
    if body := operation.get("requestBody"):
        content = next(iter(body["content"].values()))
        lines.append(f"Body: {_type(content['schema'])}\n")
        if "example" in content:
            lines.append(f"```json\n{json.dumps(content['example'], indent=2, ensure_ascii=False)}\n```\n")
    answers = [
        (
            status,
            response["description"],
            "; ".join(f"{media}: {_type(content['schema'])}" for media, content in response["content"].items()),
        )
        for status, response in operation["responses"].items()
    ]
    lines += _table(("Status", "Meaning", "Body"), answers)
    return "\n".join(lines)


def _schema(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    fields = [
        (f"`{field}`", _type(inner) + ("" if field in required else " (optional)"), inner.get("description", ""))
        for field, inner in schema.get("properties", {}).items()
    ]
    meaning = schema.get("description", "")
    lines = [f"### {name} {{ #schema-{name.lower()} }}\n", f"{meaning}\n"]
    return "\n".join([*lines, *(_table(("Field", "Type", "Meaning"), fields) or [f"{_type(schema)}\n"])])


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    cells = [heads, tuple("---" for _ in heads), *rows]
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in cells]
    return ["\n".join(lines) + "\n"]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name.lower()})"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(_type(inner) for inner in schema[union])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    kind = schema.get("format") or schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def main(target: Path) -> None:
    """Write the page; the application is made, never opened."""
    document = create_app(Settings(data=Path("never-opened"))).state.document
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(reference(document), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
