"""The documentation as one HTML page, made from the OpenAPI document: no script, no other file, no network."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

STYLE = (files("api") / "static" / "docs.css").read_text(encoding="utf-8")
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; frame-ancestors 'none'; style-src 'sha256-{_DIGEST}'"
"""Content-Security-Policy of the page: its own style and nothing else."""


_ORDER = ("Search", "Documents", "Namespaces", "API keys", "Account")


def documentation_page(document: dict[str, Any]) -> str:
    """The page of an OpenAPI document of ours."""
    info = document["info"]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    menu: list[str] = []
    parts: list[str] = []
    for tag in sorted((tag["name"] for tag in document["tags"]), key=_place):
        tagged = [entry for entry in operations if tag in entry[2]["tags"]]
        menu.append(f"<h2>{escape(tag)}</h2><ul>{''.join(_link(*entry) for entry in tagged)}</ul>")
        parts.append(f"<h2>{escape(tag)}</h2>{''.join(_section(*entry) for entry in tagged)}")
    schemas = document["components"]["schemas"]
    menu.append(
        "<h2>Schemas</h2><ul>"
        + "".join(f'<li><a href="#schema-{escape(name)}">{escape(name)}</a></li>' for name in schemas)
        + "</ul>"
    )
    parts.append("<h2>Schemas</h2>" + "".join(_schema_section(name, schema) for name, schema in schemas.items()))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f'<body><nav aria-label="Contents"><p class="title">{escape(info["title"])} API</p>{"".join(menu)}</nav>'
        f"<main><h1>{escape(info['title'])} API</h1><p>{escape(info['description'])}</p>"
        f"<p>Requests under <code>/v1</code> carry <code>Authorization: Bearer &lt;API key&gt;</code>. Commands take "
        f"the address from <code>QUARRY_URL</code> and a key from <code>QUARRY_KEY</code>. The same as "
        f'<a href="/openapi.json">OpenAPI 3.1</a>.</p>{"".join(parts)}</main></body></html>\n'
    )


def _place(tag: str) -> tuple[int, str]:
    """Where a tag stands on the page: what people come for is first."""
    return (_ORDER.index(tag) if tag in _ORDER else len(_ORDER), tag)


def _command(method: str, path: str, operation: dict[str, Any]) -> str:
    """A line for a shell that makes the request, with the examples in place of parameters."""
    for parameter in operation.get("parameters", []):
        path = path.replace(f"{{{parameter['name']}}}", str(parameter.get("example", parameter["name"])))
    parts = ["curl"]
    accepted = operation.get("requestBody", {}).get("content", {})
    content = accepted.get("application/json", {})
    if method != ("post" if accepted else "get"):
        parts.append(f"-X {method.upper()}")
    if operation.get("security") != []:
        parts.append('-H "Authorization: Bearer $QUARRY_KEY"')
    if content:
        body = json.dumps(content.get("example", {}), ensure_ascii=False).replace("'", "'\\''")
        parts += ['-H "Content-Type: application/json"', f"-d '{body}'"]
    elif accepted:
        parts.append("--data-binary @pump.pdf")
        path += "?name=pump.pdf"
    return " ".join([*parts, f'"$QUARRY_URL{path}"'])


def _link(method: str, path: str, operation: dict[str, Any]) -> str:
    label = f'<span class="method {method}">{method.upper()}</span> {escape(operation["summary"])}'
    return f'<li><a href="#{escape(operation["operationId"])}" title="{escape(path)}">{label}</a></li>'


def _section(method: str, path: str, operation: dict[str, Any]) -> str:
    heading = f'<span class="method {method}">{method.upper()}</span> <code>{escape(path)}</code>'
    parts = [
        f'<section id="{escape(operation["operationId"])}"><h3>{heading}</h3>',
        f"<p><strong>{escape(operation['summary'])}.</strong></p>",
        *(f"<p>{_prose(text)}</p>" for text in operation["description"].split("\n\n") if text),
    ]
    parts.append(f"<pre>{escape(_command(method, path, operation))}</pre>")
    if rows := [
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(p['in'])}</td><td>{_type(p['schema'])}</td>"
        f"<td>{_prose(p['description'])}</td></tr>"
        for p in operation.get("parameters", [])
    ]:
        parts.append(f"<h4>Parameters</h4>{_table(('Name', 'In', 'Type', 'Meaning'), rows)}")
    if body := operation.get("requestBody"):
        content = next(iter(body["content"].values()))
        parts.append(f"<h4>Body</h4><p>{_type(content['schema'])}</p>")
        if "example" in content:
            parts.append(f"<pre>{escape(json.dumps(content['example'], indent=2, ensure_ascii=False))}</pre>")
    rows = [
        f"<tr><td><code>{status}</code></td><td>{_prose(response['description'])}</td><td>"
        + "<br>".join(f"{escape(media)}: {_type(c['schema'])}" for media, c in response["content"].items())
        + "</td></tr>"
        for status, response in operation["responses"].items()
    ]
    parts.append(f"<h4>Responses</h4>{_table(('Status', 'Meaning', 'Body'), rows)}</section>")
    return "".join(parts)


def _schema_section(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = [
        f"<tr><td><code>{escape(field)}</code></td><td>{_type(inner)}{'' if field in required else ' (optional)'}</td>"
        f"<td>{_prose(inner.get('description', ''))}</td></tr>"
        for field, inner in schema.get("properties", {}).items()
    ]
    table = _table(("Field", "Type", "Meaning"), rows) if rows else f"<p>{_type(schema)}</p>"
    meaning = _prose(schema.get("description", ""))
    return f'<section id="schema-{escape(name)}"><h3>{escape(name)}</h3><p>{meaning}</p>{table}</section>'


def _table(heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(_type(inner) for inner in schema[union])
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if "enum" in schema:
        return " ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return escape(str(schema.get("format") or schema.get("type", "any value")))


def _prose(text: str) -> str:
    """Text with `code` between backticks."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))
