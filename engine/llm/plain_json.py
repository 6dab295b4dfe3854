"""JSON from a server that has no structured outputs: asked for in words, found in the reply, checked like any other."""

from __future__ import annotations

from typing import Any

import msgspec

_THOUGHT = "</think>"
"""What ends the thinking of a model whose server does not keep it apart."""


def instruction(schema: dict[str, Any]) -> str:
    """What a prompt says in place of the schema that a server would enforce."""
    shape = msgspec.json.encode(schema).decode()
    return (
        "Reply with exactly one JSON object, without any text or code fence around it. It has all keys of this JSON "
        f"schema and no others: {shape}"
    )


def json_object(text: str) -> str:
    r"""The outermost JSON object in `text`, which may stand in a code fence or between words; else `text` itself.

    >>> json_object('Sure:\\n```json\\n{"a": {"b": 1}}\\n```')
    '{"a": {"b": 1}}'
    """
    # Models that think aloud do so before it, in braces too.
    text = text.rpartition(_THOUGHT)[2] if _THOUGHT in text else text
    begin, end = text.find("{"), text.rfind("}")
    return text[begin : end + 1] if 0 <= begin < end else text
