"""Whether two sentences of different documents say the same, or something else about the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from engine.agent.answer.dates import dates
from engine.agent.evidence.analysed import terms_of
from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.question.terms import content_terms, read_in, without_content

Relation = Literal["repeated", "same", "other", "none"]

REPEATED, SAME, OTHER, DENIED = 0.8, 0.6, 0.5, 0.6
"""Shared rarity, as a share of both sentences' together (Jaccard), from which one repeats the other, says the same,
gives another figure, or denies it. Less proves nothing: two sentences about one trial share its names.
"""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_FIGURE = re.compile(r"(?P<sign>[$€£]?)\s?(?<![\w-])(?P<number>\d+(?:[.,]\d+)*)\s*(?P<unit>%|per ?cent|[^\W\d_]{3,})?")
_YEAR = re.compile(r"(?<![\w.,$€£])(?:1[5-9]|20)\d\d(?![\w%]|[.,]\d)")
_LEAST = 3
"""Terms that two sentences must share."""


def relation(first: str, second: str, rarity: Mapping[str, float], code: str = DEFAULT_LANGUAGE) -> Relation:
    """How `second` stands to `first`; "none" unless they are nearly one sentence.

    A figure of one unit that differs, or a negation on one side only, makes "other"; not where they speak of different
    times, since what held in one year is not contradicted by another.

    Args:
        rarity: IDF of terms in the collection; a term without one counts 1.
        code: the language of the question.

    >>> relation("The tower in Lund is 300 metres tall.", "The tower in Lund is 324 metres tall.", {})
    'other'
    """
    a, b = _content(first, code), _content(second, code)
    shared = _mass(a & b, rarity) / max(1e-9, _mass(a | b, rarity))
    if shared < OTHER or len(a & b) < _LEAST or _times(first, code) != _times(second, code):
        return "none"
    if _denies(first, code) != _denies(second, code):
        return "other" if shared >= DENIED and _numbers(first) == _numbers(second) else "none"
    if _figures_differ(first, second):
        return "other"
    if shared < SAME or _numbers(first) != _numbers(second):
        return "none"
    return "repeated" if shared >= REPEATED else "same"


def verdict(question: str, sentence: str, code: str = DEFAULT_LANGUAGE) -> bool | None:
    """Whether a sentence affirms (True) or denies just what a yes-or-no question asks; None where it says more or less.

    >>> verdict("Is Linux supported?", "Linux is not supported."), verdict("Did Ann hire Bo?", "Bo hired Ann.")
    (False, None)
    >>> verdict("Are dogs allowed inside?", "Dogs are allowed inside on Fridays.") is None
    True
    """
    if _in_order(question, code) != _in_order(sentence, code) or _denies(question, code):
        return None
    return not _denies(sentence, code)


def disputes(question: str, sentence: str, verdict: bool, code: str = DEFAULT_LANGUAGE) -> bool:  # noqa: FBT001 - a value
    """Whether a sentence speaks of all that a question asks and does not share the verdict on it."""
    said = frozenset(_in_order(sentence, code))
    return said.issuperset(_in_order(question, code)) and _denies(sentence, code) == verdict


def _in_order(text: str, code: str) -> list[str]:
    return content_terms(language(code).pattern("negation").sub(" ", text), code)


def _denies(text: str, code: str) -> bool:
    return language(code).pattern("negation").search(text) is not None


def _mass(terms: frozenset[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity.get(term, 1.0) for term in terms)


def _content(text: str, code: str) -> frozenset[str]:
    """Terms with content but for numbers, which are compared by themselves."""
    return frozenset(t for t in terms_of(text, read_in(code)) - without_content(code) if not t[0].isdigit())


def _times(text: str, code: str) -> set[object]:
    """Years, dates and words of time, such as the names of days."""
    words = (match.group().casefold() for match in language(code).pattern("times").finditer(text))
    return {*_YEAR.findall(text), *(found.readings for found in dates(text)), *words}


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _figures(text: str) -> dict[str, set[str]]:
    """Unit → numbers with it."""
    found: dict[str, set[str]] = {}
    for match in _FIGURE.finditer(text):
        unit = (match["sign"] + (match["unit"] or "")).casefold()
        # The number of a ticket, "T-17 from", measures nothing.
        if unit and unit not in language(DEFAULT_LANGUAGE).empty:
            found.setdefault(unit, set()).add(match["number"].replace(",", ""))
    return found


def _figures_differ(first: str, second: str) -> bool:
    """Whether one unit has one number here and another there, and no other figure differs."""
    a, b = _figures(first), _figures(second)
    differing = [unit for unit in a.keys() & b.keys() if a[unit] != b[unit]]
    return len(differing) == 1 and all(len(side[differing[0]]) == 1 for side in (a, b))
