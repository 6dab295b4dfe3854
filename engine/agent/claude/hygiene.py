"""What a model writes → plain text. Whether the text may leave is for the gate to say."""

from __future__ import annotations

import re

from engine.agent.claude.fence import one_line

_CITE = re.compile(r"</?cite\b[^>]*>", re.IGNORECASE)
_IMAGE = re.compile(r"!\[[^\]]*\]\s*(?:\([^)]*\)?|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\]\s*\(([^)]*)\)?")
_TAG = re.compile(r"<[A-Za-z/!?][^>]*(?:>|$)")
_MARKER = re.compile(r"\[\s*\d+(?:\s*[,–-]\s*\d+)*\s*\]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?…])")


def clean(text: str) -> str:
    """`text` as one line of plain text.

    Removed are characters that no one sees, ``<cite>`` tags and citation markers (ours are set later), HTML tags,
    markdown images and the targets of links. Addresses stay: the gate looks for them, and a sentence with a hole is
    worse than none.

    >>> clean("See ![x](http://evil.example/?q=1) the [report](https://a.example/r) [3].")
    'See the report.'
    """
    before, text = "", one_line(text)
    while before != text:
        # What is removed may join its surroundings to something new.
        before = text
        text = _CITE.sub("", text)
        text = _IMAGE.sub("", text)
        text = _LINK.sub(lambda m: m.group(1), text)
        text = _TAG.sub("", text)
        text = _MARKER.sub("", text)
    return _BEFORE_STOP.sub(r"\1", one_line(text))
