"""The kind of answer that a question asks for, and whether a text shows one: a figure, a time, a name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal

from engine.analysis.language import language, neutral
from engine.analysis.scripts import CAPITAL, INDIC, is_spelled, is_unspaced

Kind = Literal["amount", "money", "time", "person", "place"]
KINDS: tuple[Kind, ...] = ("amount", "time", "person", "place")
BESIDE = 3
"""Words between a number and what it counts, at most."""
NUMERAL = 4
"""Letters of a number in a script without spaces that writes sounds."""
_NAME = re.compile(rf"(?<=\s)[{CAPITAL}]\w+")
_CASED = re.compile(r"[^\W\d_]")
_PRICE = re.compile(r"(?<![\d.,])\d+[.,]\d\d(?![\d.,]*\d)")
_WORD = re.compile(rf"(?:[^\W_]|[{INDIC}])+")
_COUNTED = re.compile(rf"\s*(?:de\s+|di\s+|d['’])?((?:[^\W\d_]|[{INDIC}])+)", re.IGNORECASE)
"""With the vowel signs of Indic scripts, which are marks and no letters."""
_FOLLOWING = r"\s+(?:d['’])?([^\W_]+)"


def wanted(asked: str, code: str) -> Kind | None:
    """What `asked`, a question in the language `code`, asks for; None where anything may answer.

    >>> wanted("When was it built?", "en"), wanted("Wie hoch ist der Turm?", "de"), wanted("Is it open?", "en")
    ('time', 'amount', None)
    """
    first: Kind | None = None
    if language(code).pattern("money").search(asked):
        return "money"
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
    if kind == "money":
        return 1 if neutral().pattern("currencies").search(text) or _PRICE.search(text) else -1
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


def counted(asked: str, code: str) -> str | None:
    """The word, or in scripts without spaces its beginning, that "how many" counts; None where nothing is counted.

    >>> counted("How many tunnels are there?", "en"), counted("How long is it?", "en"), counted("有多少隧道?", "zh")
    ('tunnels', None, '隧')
    """
    held = language(code)
    match = held.pattern("amount").search(asked)
    following = _COUNTED.match(asked, match.end()) if match is not None else None
    if following is None:
        return None
    word = following[1]
    if is_unspaced(word):
        return word[:2] if is_spelled(word[:2]) else word[:1]
    return None if held.pattern("stop", "light", "money", "asking").fullmatch(word) else word


def stands_by_number(word: str, is_form: Callable[[str], bool], text: str, code: str) -> bool:
    """Whether a number stands beside a counted word in `text`.

    Args:
        word: as `counted` gives it.
        is_form: whether a word of the text is the one that is counted.
    """
    numbers = language(code).pattern("numbers")
    if is_unspaced(word):
        reach = NUMERAL if is_spelled(word) else 1
        return any(
            text[: match.start()].rstrip()[-1:].isdigit()
            or numbers.search(text[max(match.start() - reach - 1, 0) : match.start()])
            for match in re.finditer(re.escape(word), text)
        )
    words = _WORD.findall(text)
    places = [n for n, held in enumerate(words) if held[0].isdigit() or numbers.fullmatch(held)]
    return any(is_form(held) for place in places for held in words[max(place - BESIDE, 0) : place + BESIDE + 1])
