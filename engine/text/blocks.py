"""A passage into blocks: the sentences, or few of them together, that an answer quotes as evidence."""

from __future__ import annotations

import re

from engine.analysis.scripts import CJK, HANGUL
from engine.model.document import Span
from engine.text.sentences import MAX_SENTENCE, sentence_bounds

MAX_BLOCK = MAX_SENTENCE
"""The longest block, in characters."""

PREFERRED_BLOCK = 400
"""Blocks are not merged beyond this."""

_FRAGMENT = 40
"""Columns below which a sentence does not stand for itself; an ideograph takes two and says as much as two letters."""

_WIDE = re.compile(f"[{CJK}{HANGUL}]")
_ROW = re.compile(r"\|[^\w\n]*\w[^\n]*")
"""A row of a table in Markdown says something however short it is."""
_FINISHED = re.compile(r"[.!?…。！？।॥۔؟։።។။][\"'”’»)\]」』）]*$")
_OPENING = re.compile(
    r"[-*•‣·▪–]\s|[(\[]?\d{1,3}(?:\.\d{1,3})*[.)\]](?:\s|$)|[(\[]?[^\W\d_][.)\]](?:\s|$)"
    r"|[(\[]?[^\W\d_]{1,8}[-_ ]?\d[\w.-]*[)\]]?[:.]?(?:\s|$)"
)
"""A bullet, a list number or an id such as ``REQ-7``: what follows it is the entry that it opens."""


def blocks(text: str) -> list[Span]:
    """The blocks of `text`: trimmed, in order, apart, at most `MAX_BLOCK` characters, together all but white space.

    A block is a sentence. One too short to be read by itself joins a neighbour: "Yes." the sentence before it, which it
    answers or continues; a heading, a list number or the id of a list entry the sentence after it.

    >>> text = "Has the first trial shown that it works? Yes. The second trial confirmed it in all three groups."
    >>> [text[b.start : b.end] for b in blocks(text)]
    ['Has the first trial shown that it works? Yes.', 'The second trial confirmed it in all three groups.']
    """
    merged: list[Span] = []
    waiting: Span | None = None
    for start, end in sentence_bounds(text):
        begin = start
        if waiting is not None and end - waiting.start <= PREFERRED_BLOCK:
            begin = waiting.start
        elif waiting is not None:
            _append_to_last(merged, waiting)
        waiting = None
        if not _is_fragment(text, begin, end):
            merged.append(Span(begin, end))
        elif merged and _FINISHED.search(text, max(begin, end - 8), end) and not _OPENING.match(text, begin, end):
            _append_to_last(merged, Span(begin, end))
        else:
            waiting = Span(begin, end)
    if waiting is not None:
        _append_to_last(merged, waiting)
    return merged


def _append_to_last(merged: list[Span], fragment: Span) -> None:
    """Make `fragment` the end of the last block, or a block of its own where there is no room."""
    if merged and fragment.end - merged[-1].start <= PREFERRED_BLOCK:
        merged[-1] = Span(merged[-1].start, fragment.end)
    else:
        merged.append(fragment)


def _is_fragment(text: str, start: int, end: int) -> bool:
    if end - start >= _FRAGMENT or _ROW.match(text, start, end):
        return False
    return end - start + len(_WIDE.findall(text, start, end)) < _FRAGMENT
