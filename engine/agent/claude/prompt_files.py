"""Reads the prompts of `prompts/`: one text for all steps, so that a cached prefix serves every call."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

STEPS = ("plan", "read", "answer", "repair", "check", "clarify")
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)


@cache
def prompt(name: str) -> str:
    """The text of ``prompts/<name>.md`` without its leading comment."""
    text = files(__package__ or "").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", text, count=1).strip()


@cache
def rules() -> str:
    """The system text of every call: what holds always, then a section for each step.

    It is long enough for the service to cache it: a prefix below the service's least length is never kept.
    """
    return "\n\n".join(prompt(name) for name in ("rules", *STEPS))
