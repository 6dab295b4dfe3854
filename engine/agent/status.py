"""What a search is doing, in words a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from engine.agent.steps import PlannedQuery

MAX_SHOWN_QUERY = 120
_SIGNS = {"$eq": "=", "$neq": "≠", "$gt": ">", "$gte": "≥", "$lt": "<", "$lte": "≤"}


def describe(query: PlannedQuery) -> str:
    """What a query looks for, in words a person reads.

    >>> describe(PlannedQuery("new phones", narrowing={"source": "TechCrunch"}))
    'Searching for “new phones” in source = TechCrunch'
    """
    text = query.text if len(query.text) <= MAX_SHOWN_QUERY else query.text[: MAX_SHOWN_QUERY - 1] + "…"
    if not query.narrowing:
        return f"Searching for “{text}”"
    return f"Searching for “{text}” in {describe_filter(query.narrowing)}"


def describe_filter(narrowing: Mapping[str, Any]) -> str:
    """A filter in words.

    >>> describe_filter({"year": {"$gte": 2020, "$lt": 2023}})
    'year ≥ 2020, year < 2023'
    """
    parts: list[str] = []
    for name, condition in narrowing.items():
        if name in ("$and", "$or", "$nor"):
            parts.append(f" {name[1:]} ".join(describe_filter(part) for part in condition))
        elif name == "$not":
            parts.append(f"not {describe_filter(condition)}")
        elif isinstance(condition, Mapping):
            held = cast("Mapping[str, Any]", condition)
            parts += [
                f"{name} {_SIGNS.get(operator, operator[1:])} {_shown(value)}" for operator, value in held.items()
            ]
        else:
            parts.append(f"{name} = {_shown(condition)}")
    return ", ".join(parts)


def _shown(value: object) -> str:
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)


def counted(n: int, noun: str) -> str:
    """``1 passage``, ``2 passages``."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
