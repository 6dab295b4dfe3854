"""What the text of an environment variable means. Each parser raises `ValueError` with what it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

_N = TypeVar("_N", int, float)


def choice(*names: str) -> Callable[[str], str]:
    """One of `names`, in any case of letters."""

    def parse(raw: str) -> str:
        if raw.lower() not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return raw.lower()

    return parse


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number within bounds, both included."""
    return _within(int, least, most, f"a whole number from {least:,} to {most:,}")


def number(least: float, most: float) -> Callable[[str], float]:
    """A number within bounds, both included."""
    return _within(float, least, most, f"a number from {least:g} to {most:g}")


def _within(kind: Callable[[str], _N], least: _N, most: _N, wanted: str) -> Callable[[str], _N]:
    def parse(raw: str) -> _N:
        try:
            value = kind(raw)
        except ValueError:
            raise ValueError(wanted) from None
        if not least <= value <= most:
            raise ValueError(wanted)
        return value

    return parse


def switch(raw: str) -> bool:
    """On or off."""
    words = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
    if raw.lower() not in words:
        raise ValueError("on or off")
    return words[raw.lower()]


def memory(raw: str) -> str:
    """An amount of memory, as DuckDB reads it."""
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", raw, re.IGNORECASE):
        raise ValueError("an amount of memory such as 512MB or 2GB")
    return raw


def address(raw: str) -> str:
    """An address of HTTP, without the stroke at its end."""
    if not raw.startswith(("http://", "https://")):
        raise ValueError("an address such as http://127.0.0.1:11434/v1")
    return raw.rstrip("/")


def origins(raw: str) -> tuple[str, ...]:
    """Origins of browsers, by commas; ``*`` for any."""
    origins = tuple(part.strip().rstrip("/") for part in raw.split(",") if part.strip())
    if any(origin != "*" and not origin.startswith(("http://", "https://")) for origin in origins):
        raise ValueError("origins such as https://app.example.com, separated by commas, or *")
    return origins
