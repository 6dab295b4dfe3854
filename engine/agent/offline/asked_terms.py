"""The words of a question that say what it is about, each with how much it says.

A word says the more the rarer it is. How rare it is in the collection is known for large ones; three notes tell
nothing, so the rarity there is mixed with that of the word in language at large.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import log, sqrt

import msgspec

from engine.agent.offline.kinds import kind_words
from engine.agent.offline.names import names_in
from engine.agent.offline.question_words import question_language, without_content
from engine.analysis.analyzer import DEFAULT_LANGUAGE, query_terms, query_words
from engine.text.tokens import encoding

SOFT = 0.3
"""What a word counts that only says what kind of answer is wanted: "how **long**", "which **city**"."""
PRIOR_DOCUMENTS = 60
"""Documents that the rarity in language at large counts as many as."""
_SLOPE, _INTERCEPT, _LEAST = 0.82, -1.15, 0.3
"""Rarity of a word that is one token of the shipped vocabulary, by the logarithm of its rank: a least-squares fit of
the idf of 5,900 English words over paragraphs of SQuAD, HotpotQA and SciFact."""
_PIECED, _PER_PIECE = 7.0, 0.25
"""Rarity of a word of two tokens, and what each further one adds."""
_WORD = re.compile(r"[^\W_]+")


class AskedTerm(msgspec.Struct, frozen=True):
    """A word of a question.

    Attributes:
        forms: terms of the index that it may stand as; one of them is enough.
        weight: > 0; the root of its rarity in nats, times `share`, so that one rare word does not decide alone.
        share: 1.0, or `SOFT`.
    """

    word: str
    forms: frozenset[str]
    weight: float
    share: float


class AskedTerms(msgspec.Struct, frozen=True):
    """The words with content, in order, each once; all words where none has any.

    Attributes:
        languages: in which question and texts are read.
    """

    terms: tuple[AskedTerm, ...]
    languages: tuple[str, ...]

    @property
    def total(self) -> float:
        return sum(term.weight for term in self.terms)

    def read(self, text: str) -> frozenset[str]:
        """The terms of a text, in the languages of the question."""
        return terms_of(text, self.languages)


def asked_terms(asked: str, rarity: Mapping[str, float], documents: int) -> AskedTerms:
    """The terms of `asked`.

    Args:
        rarity: idf of terms in the collection, in nats.
        documents: how many it has; 0 where that is not known, which leaves the rarity in language at large.
    """
    languages = tuple(dict.fromkeys((question_language(asked), DEFAULT_LANGUAGE)))
    empty, soft = without_content(languages[0]), kind_words(asked)
    named = frozenset(term for name in names_in(asked) for term in query_terms(name))
    known = documents / (documents + PRIOR_DOCUMENTS)
    held: dict[frozenset[str], AskedTerm] = {}
    content: list[AskedTerm] = []
    for word in _WORD.findall(asked.replace("_", " ")):
        for reading in query_words(word, languages):
            forms = frozenset(reading)
            if not forms or forms in held:
                continue
            here = [rarity[form] for form in reading if form in rarity]
            rare = known * min(here) + (1 - known) * rarity_at_large(word.lower()) if here else rarity_at_large(word)
            share = SOFT if word.casefold() in soft and not forms & named else 1.0
            held[forms] = AskedTerm(word.lower(), forms, sqrt(rare) * share, share)
            if not forms & empty:
                content.append(held[forms])
    return AskedTerms(tuple(content) or tuple(held.values()), languages)


@lru_cache(maxsize=4_096)
def rarity_at_large(word: str) -> float:
    """How rare a word is in language, in nats, as its place in the shipped vocabulary tells; > 0.

    >>> rarity_at_large("the") < rarity_at_large("long") < rarity_at_large("quokka")
    True
    """
    tokens = encoding().encode_ordinary(f" {word.lower()}")
    if len(tokens) > 1:
        return _PIECED + _PER_PIECE * (len(tokens) - 2)
    return max(_LEAST, _SLOPE * log(tokens[0] + 1) + _INTERCEPT) if tokens else _LEAST


@lru_cache(maxsize=4_096)
def terms_of(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The index's terms of a text; remembered, since searches of one collection meet the same passages."""
    return frozenset(query_terms(text, languages))


def mass(terms: Iterable[AskedTerm], held: frozenset[str]) -> float:
    """Weight of those of `terms` that a text holds."""
    return sum(term.weight for term in terms if term.forms & held)
