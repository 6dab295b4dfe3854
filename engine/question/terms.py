"""The words of a question that say what it is about, each with how much it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from math import log, sqrt

import msgspec

from engine.analysis.analyzer import STEMMERS, query_terms, query_words
from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.analysis.scripts import is_unspaced
from engine.question.asked_language import question_language
from engine.question.kinds import kind_words
from engine.question.names import named_words

SOFT = 0.3
"""What a word counts that only says what kind of answer is wanted: "how **long**", "which **city**"."""
PAIR = 0.55
"""What a pair of characters of a script without spaces counts: neighbours share a character."""
CARRIED = 0.5
"""What all words that only earlier turns of a session said count together at most, as a share of the latest message's.
"""
PRIOR_DOCUMENTS = 20
"""Documents that the rarity in language at large counts as many as; three notes tell nothing of rarity."""
PER_LETTER = 1.2
"""Rarity at large in any language, in nats a letter: frequent words are short (Zipf 1935)."""
UNKNOWN = 7.0
"""Rarity at large of a long word, in nats."""
_IDENTIFIER = re.compile(r"(?<![\w.-])(?=\w*[^\W\d_][\w./:-]*\d|\d+[./]\d+[./]\d)[^\W_]+(?:[._/:-][^\W_]+)+(?!\w)")
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(r"(?<!\w)([^\W\d_]{2,})[ \u00a0](\d{1,3})(?![\w.,:/]*\d|[^\W_])")


class AskedTerm(msgspec.Struct, frozen=True):
    """A word of a question, or a pair of characters where a script has no spaces.

    Attributes:
        forms: terms of the index that it may stand as; one of them is enough.
        nats: its rarity: minus the logarithm of the share of passages that hold it, mixed with that in language at
            large; times `share`.
        share: 1.0, or `SOFT`, `PAIR` or both.
        is_pair: whether it is a pair of characters; `follows` that it shares one with the term before.
        is_named: written as names and figures are.
        is_whole: an identifier, such as a ticket or a version, that is never looked for in pieces.
        is_carried: only earlier turns of the session said it.
    """

    word: str
    forms: frozenset[str]
    nats: float
    share: float = 1.0
    is_pair: bool = False
    follows: bool = False
    is_named: bool = False
    is_whole: bool = False
    is_carried: bool = False

    @property
    def weight(self) -> float:
        """The root of its rarity, so that one rare word does not decide alone."""
        return sqrt(self.nats * self.share)


class AskedTerms(msgspec.Struct, frozen=True):
    """The words with content, in order, each once; all words where none has any.

    Attributes:
        code: the language of the question.
        languages: in which question and texts are read.
    """

    terms: tuple[AskedTerm, ...]
    code: str = DEFAULT_LANGUAGE
    languages: tuple[str, ...] = (DEFAULT_LANGUAGE,)

    @property
    def total(self) -> float:
        return sum(term.weight for term in self.terms)


def asked_terms(
    asked: str,
    rarity: Mapping[str, float],
    documents: int = 0,
    held: Mapping[str, int] | None = None,
    now: str = "",
) -> AskedTerms:
    """The terms of `asked`.

    Args:
        rarity: idf of terms in the collection, in nats.
        documents: how many it has; 0 where that is not known, which leaves the rarity in language at large.
        held: its passages by language.
        now: the part of `asked` that the latest message of a session says; empty for all of it.
    """
    code = question_language(asked, held)
    languages = read_in(code)
    said = parted(now, code)
    own = frozenset([*query_terms(said, languages), *(match.group().lower() for match in _IDENTIFIER.finditer(now))])
    wholes = [match.group() for match in _IDENTIFIER.finditer(asked)]
    named = frozenset(term for word in named_words(asked, code) for term in query_terms(word, languages))
    soft = (light_terms(code) | _terms_of(kind_words(asked, code), languages)) - named
    numbered = {
        match[2]: f"{match[1]} {match[2]}".lower() for match in _NUMBERED.finditer(asked, 1) if match[1][0].isupper()
    }
    empty = without_content(code)
    known = documents / (documents + PRIOR_DOCUMENTS)
    ceiling = log(2.0 + 2.0 * documents)
    found: dict[frozenset[str], AskedTerm] = {}
    content: list[AskedTerm] = []
    text = _IDENTIFIER.sub(" ", asked)
    last = ""
    for reading in query_words(parted(text, code), languages):
        forms = frozenset(reading)
        pair = len(reading[0]) <= 2 and is_unspaced(reading[0]) if reading else False
        follows = pair and len(last) > 0 and last[-1:] == reading[0][:1]
        last = reading[0] if pair else ""
        if not forms or forms in found:
            continue
        if reading[0] in numbered:
            forms = frozenset([numbered[reading[0]]])
        here = [rarity[form] for form in reading if form in rarity]
        at_large = UNKNOWN if pair else min(UNKNOWN, PER_LETTER * len(reading[0]))
        nats = known * (min(here) if here else ceiling) + (1 - known) * at_large
        share = (PAIR if pair else 1.0) * (SOFT if forms & soft else 1.0)
        carried = bool(own) and not own.intersection(reading)
        is_named = bool(named.intersection(reading))
        term = AskedTerm(reading[0], forms, nats * share, share, pair, follows, is_named, is_carried=carried)
        found[forms] = term
        if not forms & empty:
            content.append(term)
    for whole in dict.fromkeys(wholes):
        folded = whole.lower()
        carried = bool(own) and folded not in own
        nats = max(ceiling, UNKNOWN)
        content.append(AskedTerm(folded, frozenset([folded]), nats, is_named=True, is_whole=True, is_carried=carried))
    return AskedTerms(_bounded(content or list(found.values())), code, languages)


def _bounded(terms: list[AskedTerm]) -> tuple[AskedTerm, ...]:
    """`terms` with those of earlier turns lightened so that the latest message decides, where it has any."""
    own = sum(term.nats for term in terms if not term.is_carried)
    carried = sum(term.nats for term in terms if term.is_carried)
    factor = min(1.0, CARRIED * own / carried) if own and carried else 1.0
    return tuple(
        msgspec.structs.replace(term, nats=term.nats * factor) if term.is_carried and factor < 1 else term
        for term in terms
    )


def content_terms(text: str, code: str) -> list[str]:
    """Index terms of a text in the language `code` that say something of a subject, in order, each once.

    >>> content_terms("What does the article say about foxes?", "en")
    ['fox']
    """
    empty = without_content(code)
    return [term for term in dict.fromkeys(query_terms(text, read_in(code))) if term not in empty]


def read_in(code: str) -> tuple[str, ...]:
    """The languages in which texts are read for a question in the language `code`."""
    return tuple(dict.fromkeys((code, DEFAULT_LANGUAGE))) if code in STEMMERS else (DEFAULT_LANGUAGE,)


def identifiers_in(text: str) -> list[str]:
    """Identifiers of a text, lower case: what joins its parts without spaces and has digits, and names with a number.

    >>> identifiers_in("CVE-2024-3094 is in 5.6.1 of xz, well-known, since 2024; not in Model 3.")
    ['cve-2024-3094', '5.6.1', 'model 3']
    """
    if _DIGIT.search(text) is None:
        # All of them have a digit; looking for that is much quicker, and few sentences have one.
        return []
    found = [match.group().lower() for match in _IDENTIFIER.finditer(text)]
    return found + [f"{match[1]} {match[2]}".lower() for match in _NUMBERED.finditer(text) if match[1][0].isupper()]


@cache
def without_content(code: str) -> frozenset[str]:
    """Index terms, in `code` and in English, that say nothing of a subject."""
    own = language(code).empty
    return own | _terms_of(own, read_in(code))


@cache
def light_terms(code: str) -> frozenset[str]:
    """Index terms, in `code`, of the words with which a question is put, compares, or asks who made a document."""
    held = language(code)
    return _terms_of([*held.light.split(), *held.makes.split(), *held.across], read_in(code))


def _terms_of(words: Iterable[str], reads: tuple[str, ...]) -> frozenset[str]:
    """The terms of words that are one term each."""
    found = (query_terms(word, reads) for word in words)
    return frozenset(term for terms in found if len(terms) <= len(reads) for term in terms)


def parted(text: str, code: str) -> str:
    """The text of a script without spaces, parted where words stand that say nothing of the subject."""
    held = language(code)
    if not held.unspaced and not is_unspaced(text[:1]):
        return text
    return held.pattern("unspaced", "asking").sub(" ", text)
