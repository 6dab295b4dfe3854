"""The form of answer that a question asks for, by the words of its language."""

from __future__ import annotations

import re
from typing import Literal

from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.question.kinds import wanted

AnswerShape = Literal["fact", "yes_no", "comparison", "list", "temporal", "overview"]


def shape_of(text: str, code: str = DEFAULT_LANGUAGE) -> AnswerShape:
    """The first form that fits; ``fact`` when none does.

    >>> shape_of("When was the bridge built?"), shape_of("Is it open?"), shape_of("Who built it?")
    ('temporal', 'yes_no', 'fact')
    >>> shape_of("¿Cuántas plazas hay?", "es"), shape_of("博物馆开门吗?", "zh")
    ('fact', 'yes_no')
    >>> shape_of("電話番号は何番ですか?", "ja"), shape_of("犬は入れますか?", "ja")
    ('fact', 'yes_no')
    """
    held = language(code)
    if wanted(text, code) == "time":
        return "temporal"
    if _is_yes_no(text, code):
        return "comparison" if held.pattern("across", "contrast").search(text) else "yes_no"
    return "list" if opens(text, held.pattern("listing")) else "fact"


def _is_yes_no(text: str, code: str) -> bool:
    """Whether a verb, or a particle behind the question, asks for yes or no before anything else asks."""
    held = language(code)
    verb = held.pattern("yes_no").search(text)
    if verb is None:
        return False
    asks = held.pattern("which", "amount", "time", "person", "place", "listing").search(text)
    is_first = opens(text, held.pattern("yes_no")) or opens(text, held.pattern("between", "before", "after", "since"))
    is_last = not any(map(str.isalnum, text[verb.end() :]))
    if not is_first:
        # A particle behind the question asks for yes or no where no other word asks: 何番ですか asks for a number.
        words = [match.group() for match in held.pattern("asking").finditer(text[: verb.start()])]
        return is_last and asks is None and all(held.pattern("yes_no").search(word) for word in words)
    return asks is None or verb.start() < asks.start()


def opens(text: str, words: re.Pattern[str]) -> bool:
    """Whether a text begins with one of `words`, marks left out."""
    found = words.search(text)
    return found is not None and not any(map(str.isalnum, text[: found.start()]))
