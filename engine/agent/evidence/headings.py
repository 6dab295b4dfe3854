"""Headings and questions inside a text: they say what the text after them is about, and answer nothing themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.text.sentences import sentences

MAX_HEADING = 80
"""Characters above which a line without a full stop is no heading."""
_KEPT = 4_096
"""Texts that are read once, while searches meet the same ones."""
_MARKED = re.compile(r"\s*#{1,6}\s")
_ASKS = re.compile(r"[?？؟;՞]\W*$")
_ENDS = re.compile(r"[.!?…。！？।॥۔؟։][\"'”’»)\]」』）*_]*$")
_TABLE = re.compile(r"\s*\n\|? ?:?--")
"""What stands below the first row of a table in Markdown, which names its columns."""
_ITEM = re.compile(r"\s*(?:[-*+•▪–—]|\(?\d{1,3}[.)])\s")
_GREEK = re.compile(r"[Ͱ-Ͽ]")


def is_ended(text: str) -> bool:
    """Whether a text ends with the mark of a sentence."""
    return _ENDS.search(text.rstrip()) is not None


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, that of Greek and Armenian included.

    >>> is_question("How do I reset it?"), is_question("Press the button;"), is_question("Πότε άνοιξε;")
    (True, False, True)
    """
    mark = _ASKS.search(text.rstrip())
    return mark is not None and (mark.group()[0] != ";" or _GREEK.search(text) is not None)


def spoken(text: str, following: str = "") -> list[tuple[int, int]]:
    r"""The sentences of ``text`` that state something, as places: without headings and questions.

    Args:
        following: what stands behind the text.

    >>> text = "## How do I reset my password?\nClick on *Forgotten*."
    >>> [text[a:b] for a, b in spoken(text)]
    ['Click on *Forgotten*.']
    >>> table = "| Port | Meaning |\n|---|---|\n| 80 | The web. |"
    >>> [table[a:b] for a, b in spoken(table)]
    ['| 80 | The web.']
    """
    return [place for place, states in _read(text, following) if states]


def headings(text: str, following: str = "") -> list[tuple[int, int]]:
    """The headings and questions of ``text``, as places; see `spoken`."""
    return [place for place, states in _read(text, following) if not states]


@lru_cache(maxsize=_KEPT)
def _read(text: str, following: str) -> tuple[tuple[tuple[int, int], bool], ...]:
    """The places of its sentences, and whether each states something."""
    found: list[tuple[tuple[int, int], bool]] = []
    for span in sentences(text):
        sentence, rest = text[span.start : span.end], text[span.end :] + following
        if any(map(str.isalnum, sentence)):
            states = not is_question(sentence) and not _is_heading(sentence, rest)
            found.append(((span.start, span.end), states))
    return tuple(found)


def _is_heading(sentence: str, rest: str) -> bool:
    if _MARKED.match(sentence) or _TABLE.match(rest):
        return True
    if len(sentence) > MAX_HEADING or is_ended(sentence) or _ITEM.match(sentence) or any(map(str.isdigit, sentence)):
        return False
    gap = rest[: len(rest) - len(rest.lstrip())]
    return gap.count("\n") > 1 or (gap.count("\n") == 1 and sentence.endswith(":"))
