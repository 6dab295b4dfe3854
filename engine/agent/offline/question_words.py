"""Words with which a question is put, by language: they ask, and say nothing of the subject."""

from __future__ import annotations

import re
from functools import cache

from engine.agent.offline.words import FRAME_WORDS, FUNCTION_WORDS
from engine.analysis.analyzer import DEFAULT_LANGUAGE, STEMMERS, query_terms
from engine.analysis.detection import detect_language
from engine.analysis.language import languages

_REQUESTS = (
    "tell give find explain describe list show know summarise summarize summary overview please want need look looking"
    " search information info detail details question help understand learn talk say says said about"
)
_WORD = re.compile(r"[^\W\d_]+")


def question_language(asked: str) -> str:
    """The language of a question, a key of `STEMMERS`; English when undecided.

    A question is often too short for the function words by which texts are told apart; its question words tell then.

    >>> [question_language(q) for q in ("¿Cuándo se abrió el puente?", "Combien coûte l'entrée ?", "Opening hours")]
    ['es', 'fr', 'en']
    """
    detected = detect_language(asked)
    if detected in STEMMERS:
        return detected
    words = set(_WORD.findall(asked.casefold()))
    votes = {language: len(words & profile) for language, profile in _profiles().items()}
    best = max(votes, key=votes.__getitem__)
    return best if votes[best] > len(words & FUNCTION_WORDS) else DEFAULT_LANGUAGE


@cache
def _profiles() -> dict[str, frozenset[str]]:
    """Language → the words that ask in it, and its function words."""
    return {
        code: frozenset(f"{held.asking} {held.common}".split())
        for code, held in languages().items()
        if held.asking and code != DEFAULT_LANGUAGE and code in STEMMERS
    }


@cache
def without_content(language: str) -> frozenset[str]:
    """Index terms, in English and in `language`, that say nothing of a subject.

    They are function words, words that ask, and words by which a question speaks of its sources.
    """
    english = frozenset(query_terms(" ".join([*sorted(FUNCTION_WORDS | FRAME_WORDS), _REQUESTS]))) | FUNCTION_WORDS
    if language == DEFAULT_LANGUAGE:
        return english
    held = languages()[language]
    own = f"{held.common} {held.asking}"
    return english | frozenset(query_terms(own, (language, DEFAULT_LANGUAGE)))
