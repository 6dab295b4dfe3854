"""Reads the prompts of `prompts/`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)


@cache
def prompt(name: str) -> str:
    """The text of ``prompts/<name>.md`` without its leading comment."""
    text = files(__package__ or "").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", text, count=1).strip()
