"""Cutting what is too long: at line ends, else sentence marks, clause marks, spaces, else between graphemes."""

from __future__ import annotations

import re

from engine.text.graphemes import safe_cut

_PLACES = (
    re.compile(r"\n+"),
    re.compile(r"[.!?…](?<![.!?…][.!?…])[.!?…]*+[\"'”’»)\]]*+(?=\s)|[。！？｡।॥۔؟։።។။]+"),
    re.compile(r"[;:,،؛—–](?=\s)|[、，；：၊፣፤]"),
    re.compile(r"[\s\u200b]+"),
)


def split_long(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Pieces of ``text[start:end]``, in order, trimmed, none above `limit` characters, together all that is not space.

    Every character is looked at a bounded number of times, whatever the text.

    Args:
        text: what is cut.
        start: first character; `end` is exclusive.
        limit: characters a piece, >= 1.
    """
    pieces: list[tuple[int, int]] = []
    while end - start > limit:
        rest = end - start
        # Pieces of about one size: a last one of three characters would say nothing.
        even = rest // -(-rest // limit)
        cut = _cut(text, start, start + even // 2, start + min(limit, even * 5 // 4 + 1))
        append_trimmed(pieces, text, start, cut)
        start = cut
    append_trimmed(pieces, text, start, end)
    return pieces


def append_trimmed(pieces: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Append ``[start, end)`` without the white space at its ends, unless nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        pieces.append((start, end))


def _cut(text: str, start: int, lowest: int, highest: int) -> int:
    for place in _PLACES:
        cut = 0
        for match in place.finditer(text, lowest, highest):
            cut = match.end()
        if cut > start:
            return cut
    return safe_cut(text, highest, start)
