"""The language of a question: by its script, by the words that ask, and by what the collection is written in."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from engine.analysis.analyzer import STEMMERS
from engine.analysis.detection import UNDETERMINED, detect_language
from engine.analysis.language import DEFAULT_LANGUAGE, NEUTRAL, languages
from engine.text.tokens import encoding

PRIOR = 0.5
"""Votes, a vote being a word of one language alone, that a language gets which the whole collection is in."""
TELLING = 4
"""Words from which on a question in English holds one that English questions are told by."""
LONG = 5
"""Letters of a word that hardly stands whole in a vocabulary made of another language's texts."""
_WORD = re.compile(r"[^\W\d_]+")


def question_language(asked: str, held: Mapping[str, int] | None = None) -> str:
    """ISO 639-1 code of the language that `asked` is in; English when nothing tells, `NEUTRAL` where it is not that.

    A question is often too short for the function words by which texts are told apart: its question words tell then,
    and where they do not, the language that most passages are in.

    Args:
        held: passages of the collection by language.

    >>> [question_language(q) for q in ("¿Cuándo se abrió el puente?", "Combien coûte l'entrée ?", "Opening hours")]
    ['es', 'fr', 'en']
    >>> question_language("Rotterdam", {"nl": 90, "en": 10}), question_language("Ai dẫn đoàn đi hồ?", {"en": 5})
    ('nl', 'vi')
    """
    words = set(_WORD.findall(asked.lower()))
    votes: dict[str, float] = {}
    for word in words:
        speaking = _speaking().get(word, ())
        for code in speaking:
            votes[code] = votes.get(code, 0.0) + 1 / len(speaking)
    if held:
        # A short question is no third language: passages of one with a stemmer would be known.
        votes = {code: vote for code, vote in votes.items() if code in held or code not in STEMMERS}
    speaks_english = DEFAULT_LANGUAGE in votes
    detected = detect_language(asked)
    if detected != UNDETERMINED and detected not in _told_by_words():
        return detected
    total = sum(held.values()) if held else 0
    for code, passages in (held or {}).items():
        if code in _told_by_words():
            # Passages of a language without a stemmer are kept as English ones, so that says half as much.
            prior = PRIOR / 2 if code == DEFAULT_LANGUAGE else PRIOR
            votes[code] = votes.get(code, 0.0) + prior * passages / total
    if detected in votes:
        votes[detected] += PRIOR
    found = max(sorted(votes), key=votes.__getitem__) if votes else DEFAULT_LANGUAGE
    return NEUTRAL if found == DEFAULT_LANGUAGE and not speaks_english and _is_foreign(words) else found


def _is_foreign(words: Collection[str]) -> bool:
    """Whether no long word of a whole question stands whole in the shipped vocabulary, made of English texts.

    Names and terms of a field stand in pieces in English too: so one word in one piece is enough.
    """
    whole = (word for word in words if len(word) >= LONG and len(encoding().encode_ordinary(f" {word}")) == 1)
    return len(words) >= TELLING and next(whole, None) is None


@cache
def _told_by_words() -> frozenset[str]:
    """Languages in a script that several share: their words are what tells them apart."""
    return frozenset(code for code, held in languages().items() if held.common)


@cache
def _speaking() -> dict[str, tuple[str, ...]]:
    """Word → the languages in whose questions it is frequent."""
    found: dict[str, list[str]] = {}
    for code in sorted(_told_by_words()):
        held = languages()[code]
        own = f"{held.common} {held.asking}" if code != DEFAULT_LANGUAGE else f"{held.stop} {held.asking} {held.common}"
        for word in dict.fromkeys(own.lower().split()):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
