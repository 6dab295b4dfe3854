"""Prompt caching as the service does it: prefixes that end at a mark, by model and form, for as long as they are used.

A prefix below the least length of its model is never kept. Tokens are estimated from characters, on the low side. A
change of the reply's form is another prefix, because the service puts the form in front of the prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

LEAST_CACHED = {"claude-haiku-5-5": 512, "claude-sonnet-5-5": 1_024}
"""Tokens below which a prefix is not kept: what is published for the first, and for the forerunner of the second."""
LONGEST_LEAST = 4_096
"""That of the models which ask for most; taken for every other one."""
CHARACTERS_A_TOKEN = 4


class Counted(NamedTuple):
    """Input tokens of one request."""

    input: int
    read: int
    written: int


class PrefixCache:
    """Which prefixes were sent before."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def count(self, body: Mapping[str, Any]) -> Counted:
        """What a request reads from the cache, what it writes, and what is neither; then keep its prefixes."""
        least = LEAST_CACHED.get(body["model"], LONGEST_LEAST)
        form = json.dumps([body.get("model"), body.get("output_config", {}).get("format"), body.get("thinking")])
        text, read, marked = form, 0, 0
        length = 0
        new: list[str] = []
        for block in _blocks(body):
            text = hashlib.sha256(f"{text}\x1f{block['text']}".encode()).hexdigest()
            length += len(block["text"])
            if "cache_control" in block and length // CHARACTERS_A_TOKEN >= least:
                marked = length
                if text in self._kept:
                    read = length
                new.append(text)
        self._kept.update(new)
        tokens = [n // CHARACTERS_A_TOKEN for n in (length - marked, read, marked - read)]
        return Counted(*tokens)


def _blocks(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*body.get("system", ()), *(block for message in body["messages"] for block in message["content"])]
