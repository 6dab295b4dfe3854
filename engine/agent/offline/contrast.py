"""Whether two sentences of different documents say the same, or something else about the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from engine.agent.offline.coverage import terms_in
from engine.agent.offline.words import FUNCTION_WORDS, words

Relation = Literal["same", "other", "none"]

SAME, ABOUT = 0.6, 0.45
"""Shared rarity, as a share of the shorter sentence's, from which two sentences say the same or speak of the same."""
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|denie[sd]|deny|refuse[sd]?|reject(?:s|ed)?|\w+n['’]t)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)\s*(?P<unit>%|[^\W\d_]{3,})")


def relation(first: str, second: str, rarity: Mapping[str, float]) -> Relation:
    """How `second` stands to `first`; "none" unless words they share say that both speak of one thing.

    Figures of one unit that differ, or a negation on one side only, make "other".

    Args:
        rarity: IDF of terms in the collection; a term without one counts 1.

    >>> relation("The tower is 300 metres tall.", "The tower is 324 metres tall.", {})
    'other'
    """
    a, b = _content(first), _content(second)
    if not a or not b:
        return "none"
    shared = _mass(a & b, rarity) / max(1e-9, min(_mass(a, rarity), _mass(b, rarity)))
    if shared < ABOUT or len(a & b) < 2:
        return "none"
    if _figures_differ(first, second) or bool(_NEGATION.search(first)) != bool(_NEGATION.search(second)):
        return "other"
    return "same" if shared >= SAME and _figures(first) == _figures(second) else "none"


def _mass(terms: frozenset[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity.get(term, 1.0) for term in terms)


def _content(text: str) -> frozenset[str]:
    function = {term for word in words(text) if word in FUNCTION_WORDS for term in terms_in(word)}
    return terms_in(text) - function


def _figures(text: str) -> set[tuple[str, str]]:
    return {(m["number"].replace(",", ""), m["unit"].casefold()) for m in _FIGURE.finditer(text)}


def _figures_differ(first: str, second: str) -> bool:
    a, b = _figures(first), _figures(second)
    units = {unit for _, unit in a} & {unit for _, unit in b}
    return any({n for n, u in a if u == unit}.isdisjoint(n for n, u in b if u == unit) for unit in units)
