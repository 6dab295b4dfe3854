"""What a model writes → plain text that shows nothing its evidence does not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.agent.claude.fence import one_line

_CITE = re.compile(r"</?cite\b[^>]*>", re.IGNORECASE)
_IMAGE = re.compile(r"!\[[^\]]*\]\s*(?:\([^)]*\)?|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\]\s*\(([^)]*)\)?")
_TAG = re.compile(r"<[A-Za-z/!?][^>]*(?:>|$)")
_URL = re.compile(
    r"(?:\b(?:https?|ftp|file|data|javascript|vbscript|mailto|tel)\s*:\s*(?=\S)|\bwww\.)\S+"
    r"|\b(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}/\S*",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\[\s*\d+(?:\s*[,–-]\s*\d+)*\s*\]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?…])")
_TRAILING = ".,;:!?)]}\"'»”’"


def clean(text: str, sources: Sequence[str]) -> str:
    """`text` as one line of plain text.

    Removed are characters that no one sees, ``<cite>`` tags and citation markers (ours are set later), and those of
    HTML tags, markdown images, link targets and addresses that stand in none of `sources`.

    Args:
        sources: the texts that the sentence rests on; none allows nothing.

    >>> clean("See ![x](http://evil.example/?q=1) the [report](https://a.example/r).", [])
    'See the report.'
    >>> clean("It lives at https://a.example/r [3].", ["Read https://a.example/r."])
    'It lives at https://a.example/r.'
    """

    def kept(found: str) -> bool:
        return any(found in source for source in sources)

    def address(match: re.Match[str]) -> str:
        url = match.group().rstrip(_TRAILING)
        return match.group() if kept(url) else match.group()[len(url) :]

    before, text = "", one_line(text)
    while before != text:
        # What is removed may join its surroundings to something new.
        before = text
        text = _CITE.sub("", text)
        text = _IMAGE.sub(lambda m: m.group() if kept(m.group()) else "", text)
        text = _LINK.sub(lambda m: m.group() if kept(m.group()) else m.group(1), text)
        text = _TAG.sub(lambda m: m.group() if kept(m.group()) else "", text)
        text = _URL.sub(address, text)
        text = _MARKER.sub("", text)
    return _BEFORE_STOP.sub(r"\1", one_line(text))
