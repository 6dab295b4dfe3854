"""Text to terms, the same for passages and queries.

The index has one tokenizer: words, lower case, folded accents, English stems. A passage in another language with a
Snowball stemmer is stemmed as that language first and handed over as the stems; a query is read in its own language and
in those that the index mainly holds. So one pair of fields serves all languages, and with it one set of document
frequencies and lengths: fields of their own would measure a few French passages against the average length of all.
No word is left out: a phrase needs its small words, and BM25 gives them almost no weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engine.analysis.detection import detect_language
from engine.analysis.language import DEFAULT_LANGUAGE, languages
from engine.analysis.scripts import prepare, prepare_query
from engine.analysis.tokenizer import TextAnalyzer, make_analyzer

STEMMERS = {code: held.stemmer for code, held in languages().items() if held.stemmer}
"""ISO 639-1 to Snowball; a language that is not here is handled as the default, which leaves foreign words alone."""

_MARK = "qxzjvkqx"
"""Stands between texts that are tokenized together; a word of no language."""


def language_of(text: str) -> str:
    """The key of `STEMMERS` that fits `text` best; English when undecided."""
    language = detect_language(text)
    return language if language in STEMMERS else DEFAULT_LANGUAGE


@cache
def text_analyzer(language: str) -> TextAnalyzer:
    """One of `language`, a key of `STEMMERS`; made once a process."""
    return make_analyzer(STEMMERS[language])


def indexable(text: str, language: str) -> str:
    """What the index's tokenizer is given for `text`."""
    prepared = prepare(text)
    if language == DEFAULT_LANGUAGE:
        return prepared
    return " ".join(text_analyzer(language).analyze(prepared))


def query_words(text: str, languages: Sequence[str] = (DEFAULT_LANGUAGE,)) -> list[tuple[str, ...]]:
    """The words of `text` in order, repeats included, each as the terms that it may stand as in the index.

    Args:
        languages: in which to read the text, the likeliest first; not empty. A word that stems alike has one term.

    >>> query_words("The quick foxes' dens")
    [('the',), ('quick',), ('fox',), ('den',)]
    >>> query_words("maisons", ["fr", "en"])
    [('maison',)]
    """
    prepared = prepare_query(text)
    readings = [_as_indexed(prepared, language) for language in languages]
    return _words(readings)


def query_terms(text: str, languages: Sequence[str] = (DEFAULT_LANGUAGE,)) -> list[str]:
    """The terms of `query_words`, one after the other.

    >>> query_terms("The quick foxes' dens")
    ['the', 'quick', 'fox', 'den']
    """
    return [term for word in query_words(text, languages) for term in word]


def query_terms_of_each(texts: Sequence[str], languages: Sequence[str] = (DEFAULT_LANGUAGE,)) -> list[list[str]]:
    """`query_terms` of each text, in a fraction of the time: the tokenizer is called once.

    >>> query_terms_of_each(["The quick foxes.", "", "Dens"])
    [['the', 'quick', 'fox'], [], ['den']]
    """
    joined = f" {_MARK} ".join(map(prepare_query, texts))
    readings = [_parted(_as_indexed(joined, language), language) for language in languages]
    if any(len(reading) != len(texts) for reading in readings):
        # One of the texts holds the mark.
        return [query_terms(text, languages) for text in texts]
    return [[term for word in _words(of_text) for term in word] for of_text in zip(*readings, strict=True)]


def _words(readings: Sequence[list[str]]) -> list[tuple[str, ...]]:
    """The words of one text that was read in several languages."""
    first = readings[0]
    if len(readings) == 1:
        return [(term,) for term in first]
    # Stemmers see the same words; one that splits them in another way has no say about which is which.
    same = [reading for reading in readings if len(reading) == len(first)]
    return [tuple(dict.fromkeys(word)) for word in zip(*same, strict=True)]


def _parted(terms: list[str], language: str) -> list[list[str]]:
    """Terms between marks."""
    mark = _mark(language)
    parts: list[list[str]] = []
    start = 0
    for end in [number for number, term in enumerate(terms) if term == mark]:
        parts.append(terms[start:end])
        start = end + 1
    parts.append(terms[start:])
    return parts


@cache
def _mark(language: str) -> str:
    """The mark as a term."""
    return _as_indexed(_MARK, language)[0]


def _as_indexed(prepared: str, language: str) -> list[str]:
    english = text_analyzer(DEFAULT_LANGUAGE)
    if language == DEFAULT_LANGUAGE:
        return english.analyze(prepared)
    return english.analyze(" ".join(text_analyzer(language).analyze(prepared)))
