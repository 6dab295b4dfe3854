"""Reads the prompts of `prompts/`: what holds in every step, and the sections of each."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_ANSWER = ("queries", "answer", "repair")
SECTIONS = {
    "plan": ("queries", "plan"),
    "read": ("read",),
    "clarify": ("clarify",),
    "answer": _ANSWER,
    "repair": _ANSWER,
    "check": ("check",),
}
"""What stands behind the rules for each step. Answer and repair share a text, because a repair is shown what the answer
was shown: the beginning of both is one, and is cached."""
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)


@cache
def prompt(name: str) -> str:
    """The text of ``prompts/<name>.md`` without its leading comment."""
    text = files(__package__ or "").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", text, count=1).strip()


@cache
def rules(step: str) -> str:
    """The system text of every call of a step, whatever is searched: what holds always, then what the step needs.

    A service caches a prompt by its beginning with the form of the reply in front, so steps of different forms would
    share nothing however much of their text is the same: each step has its own, no longer than it needs.
    """
    return "\n\n".join(prompt(name) for name in ("rules", *SECTIONS[step]))
