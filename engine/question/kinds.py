"""The kind of answer that a question asks for, and whether a text shows one: a figure, a time, a name."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from engine.analysis.language import language

Kind = Literal["amount", "time", "person", "place"]
KINDS: tuple[Kind, ...] = ("amount", "time", "person", "place")
_NAME = re.compile(r"(?<=\s)[^\W\d_a-z]\w+")
_CASED = re.compile(r"[^\W\d_]")
_FOLLOWING = r"\s+(?:d['’])?([^\W_]+)"


def wanted(asked: str, code: str) -> Kind | None:
    """What `asked`, a question in the language `code`, asks for; None where anything may answer.

    >>> wanted("When was it built?", "en"), wanted("Wie hoch ist der Turm?", "de"), wanted("Is it open?", "en")
    ('time', 'amount', None)
    """
    first: Kind | None = None
    start = len(asked)
    for kind in KINDS:
        match = language(code).pattern(kind).search(asked)
        if match is not None and match.start() < start:
            first, start = kind, match.start()
    return first


def shows(kind: Kind | None, text: str, code: str) -> int:
    """1 where a text shows what answers that kind, -1 where it does not, 0 where that cannot be told.

    >>> shows("time", "It opened in 1887.", "en"), shows("person", "it was built by a duke", "en")
    (1, -1)
    """
    if kind is None:
        return 0
    if kind in ("amount", "time"):
        told = any(map(str.isdigit, text)) or _words_of(kind, code).search(text) is not None
        return 1 if told else -1
    letters = "".join(_CASED.findall(text[:200]))
    if letters.upper() == letters.lower():
        return 0  # a script without capitals
    return 1 if _NAME.search(text) else -1


@cache
def _words_of(kind: Kind, code: str) -> re.Pattern[str]:
    return language(code).pattern("numbers") if kind == "amount" else language(code).pattern("times", "months")


def kind_words(asked: str, code: str) -> frozenset[str]:
    """Words, lower case, that say what kind of answer is wanted; an answer seldom repeats them.

    >>> sorted(kind_words("How long is the bridge, and which river does it cross?", "en"))
    ['long', 'river']
    """
    return frozenset(match[1].lower() for match in _asked_for(code).finditer(asked))


@cache
def _asked_for(code: str) -> re.Pattern[str]:
    words = "|".join(map(re.escape, language(code).which.split()))
    return re.compile(rf"(?<!\w)(?:{words}){_FOLLOWING}" if words else r"((?!))", re.IGNORECASE)
