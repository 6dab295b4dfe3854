"""How much of what a question asks stands in the passages that were found for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log1p, sqrt

import msgspec

from engine.agent.offline.names import names_in
from engine.agent.offline.words import FRAME_WORDS, FUNCTION_WORDS
from engine.agent.steps import ReadingPassage
from engine.lexical.analyzer import query_terms

SENTENCES_OF = 12
"""Passages, best first, whose single sentences are looked at."""

SOFT = 0.3
"""Weight of a term that only says what kind of answer is wanted."""
UNSEEN = 20
"""Passages without any of the words that are counted in where the collection's own counts are not known."""
_KIND = re.compile(r"\b(?:how|which|what|whose)\s+(\w+)", re.IGNORECASE)
_REQUESTS = (
    "tell give find explain describe list show know summarise summarize summary overview please want need look looking"
    " search information info detail details question help understand learn talk say says said about"
)


class Coverage(msgspec.Struct, frozen=True):
    """What the best of several passages hold of a question; shares are of the weight of its terms, in [0, 1].

    Attributes:
        terms: how many different terms with content the question has; one that only says what kind of answer is wanted
            counts `SOFT`.
        passage: share that the best passage holds, its header and attributes included.
        sentence: share that the best single sentence holds together with its header.
        names: mean over the proper names and figures of the question, each by the passage that holds most of it and
            weighted like its terms; 1.0 without names.
        absent: names of which no passage holds anything, as the question writes them.
    """

    terms: float
    passage: float
    sentence: float
    names: float
    absent: tuple[str, ...]


def coverage_of(asked: str, passages: Sequence[ReadingPassage], rarity: Mapping[str, float]) -> Coverage:
    """Coverage of `asked` by `passages`, best first.

    Args:
        rarity: IDF of the terms in the collection; where a term is not in it, it is counted over `passages`.
    """
    held = [terms_in(shown_text(p)) for p in passages]
    soft = kinds_of_answer(asked)
    weights = {
        term: sqrt(weight) * (SOFT if term in soft else 1.0) for term, weight in weights_of(asked, rarity, held).items()
    }
    total = sum(weights.values())
    if total <= 0 or not held:
        return Coverage(0.0, 0.0, 0.0, 0.0, ())
    sentences = [
        terms_in(block.text) | terms_in(p.passage.header) for p in passages[:SENTENCES_OF] for block in p.blocks
    ]
    names, absent = _names(asked, weights, held)
    return Coverage(
        terms=sum(SOFT if term in soft else 1.0 for term in weights),
        passage=max(_mass(weights, terms) for terms in held) / total,
        sentence=max((_mass(weights, terms) for terms in sentences), default=0.0) / total,
        names=names,
        absent=absent,
    )


def kinds_of_answer(asked: str) -> frozenset[str]:
    """Terms that say what kind of answer is wanted: "how **long**", "which **city**"; an answer seldom repeats them."""
    named = frozenset(term for name in names_in(asked) for term in terms_in(name))
    return frozenset(term for match in _KIND.finditer(asked) for term in query_terms(match[1])) - named


def _names(asked: str, weights: Mapping[str, float], held: Sequence[frozenset[str]]) -> tuple[float, tuple[str, ...]]:
    found = weighed = 0.0
    absent: list[str] = []
    for name in names_in(asked):
        own = {term: weights[term] for term in query_terms(name) if term in weights}
        mass = sum(own.values())
        if mass <= 0:
            continue
        best = max(_mass(own, terms) for terms in held)
        found += best
        weighed += mass
        if best == 0:
            absent.append(name)
    return (found / weighed if weighed else 1.0), tuple(absent)


def weights_of(text: str, rarity: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Term → IDF, for the terms of `text` that have content; all of them when none has."""
    terms = list(dict.fromkeys(query_terms(text)))
    kept = [term for term in terms if term not in NO_CONTENT] or terms
    return {term: rarity[term] if term in rarity else _counted(term, held) for term in kept}


def _counted(term: str, held: Sequence[frozenset[str]]) -> float:
    # Passages found for a question hold its words more often than others do; unseen ones make up for it.
    frequency, total = sum(term in terms for terms in held), len(held) + UNSEEN
    return log1p((total - frequency + 0.5) / (frequency + 0.5))


def _mass(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)


def shown_text(passage: ReadingPassage) -> str:
    """Everything that a reader sees of a passage: header, text and short attributes."""
    attributes = " ".join(str(value) for value in passage.attributes.values())
    return f"{passage.passage.header} {passage.passage.text} {attributes}"


@lru_cache(maxsize=4_096)
def terms_in(text: str) -> frozenset[str]:
    """The index's terms of a text; remembered, since searches of one collection meet the same passages."""
    return frozenset(query_terms(text))


NO_CONTENT = frozenset(query_terms(" ".join([*sorted(FUNCTION_WORDS | FRAME_WORDS), _REQUESTS]))) | FUNCTION_WORDS
"""Terms that say nothing of a subject: function words, and words by which a question speaks of its sources or asks."""
