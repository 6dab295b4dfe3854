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
    # Stemmers see the same words; one that splits them in another way has no say about which is which.
    readings = [reading for reading in readings if len(reading) == len(readings[0])]
    return [tuple(dict.fromkeys(word)) for word in zip(*readings, strict=True)]


def query_terms(text: str, languages: Sequence[str] = (DEFAULT_LANGUAGE,)) -> list[str]:
    """The terms of `query_words`, one after the other.

    >>> query_terms("The quick foxes' dens")
    ['the', 'quick', 'fox', 'den']
    """
    return [term for word in query_words(text, languages) for term in word]


def _as_indexed(prepared: str, language: str) -> list[str]:
    english = text_analyzer(DEFAULT_LANGUAGE)
    if language == DEFAULT_LANGUAGE:
        return english.analyze(prepared)
    return english.analyze(" ".join(text_analyzer(language).analyze(prepared)))
