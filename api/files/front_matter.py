"""The YAML or TOML block at the top of a Markdown file, as attributes."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from datetime import date
from typing import Any, cast

from api.files.extras import library
from api.files.pieces import UnreadableFile

MAX_FRONT_MATTER = 2**16
"""Characters; a longer block is text."""

_MAX_DEPTH = 8
_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_RESERVED = frozenset({"id", "body", "path", "root_document_id"})


def split_front_matter(text: str, note: Callable[[str], None]) -> tuple[dict[str, Any], str]:
    """Attributes, and the text below them. A block that cannot be read stays part of the text, and is noted."""
    for pattern, parse in ((_YAML, _yaml), (_TOML, tomllib.loads)):
        found = pattern.match(text, 0, MAX_FRONT_MATTER)
        if found is None:
            continue
        try:
            values: object = parse(found[1])
        except UnreadableFile as error:
            note(f"front matter left out: {error}")
            return {}, text[found.end() :]
        except (ValueError, RecursionError) as error:
            note(f"front matter left as text: {str(error).splitlines()[0]}")
            # Without its fences, which would read as the underline of a heading.
            return {}, f"{found[1]}\n{text[found.end() :]}"
        if isinstance(values, dict):
            return _attributes(cast("dict[object, object]", values)), text[found.end() :]
    return {}, text


def _yaml(text: str) -> object:
    yaml = library("yaml")
    try:
        # A few lines of aliases can stand for gigabytes.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise ValueError("it uses aliases")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _attributes(values: dict[object, object]) -> dict[str, Any]:
    found = {str(name): _json(value, 0) for name, value in values.items()}
    return {
        name: value
        for name, value in found.items()
        if value not in (None, "", [], {}) and name not in _RESERVED and not name.startswith("$") and len(name) <= 128
    }


def _json(value: object, depth: int) -> Any:
    """`value` as JSON holds it: dates as ISO 8601 text, what is neither as its text."""
    if depth > _MAX_DEPTH:
        return str(value)
    if isinstance(value, dict):
        return {str(k): _json(v, depth + 1) for k, v in cast("dict[object, object]", value).items()}
    if isinstance(value, (list, tuple, set)):
        return [_json(each, depth + 1) for each in cast("list[object]", value)]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
