"""Text to terms, the same for passages and queries.

The index has one tokenizer: words, lower case, folded accents, English stems. A passage in another language with a
Snowball stemmer is stemmed as that language first and handed over as the stems; a query is analysed once for every
language that the index holds. So one pair of fields serves all languages, and with it one set of document
frequencies and lengths: fields of their own would measure a few French passages against the average length of all.
No word is left out: a phrase needs its small words, and BM25 gives them almost no weight.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from engine.lexical.native import TextAnalyzer, make_analyzer
from engine.lexical.scripts import prepare, prepare_query
from engine.text.language import detect_language

DEFAULT_LANGUAGE = "en"
STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
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


def query_terms(text: str, languages: Collection[str] = ()) -> list[str]:
    """The terms of `text` as the index holds them, in order, repeats included.

    Args:
        languages: those of the indexed passages, besides English. A word that stems differently gives each of its
            terms, side by side.

    >>> query_terms("The quick foxes' dens")
    ['the', 'quick', 'fox', 'den']
    """
    prepared = prepare_query(text)
    english = text_analyzer(DEFAULT_LANGUAGE)
    others = [language for language in sorted(languages) if language != DEFAULT_LANGUAGE]
    if not others:
        return english.analyze(prepared)
    readings: list[Sequence[str]] = [english.analyze(prepared)]
    readings += [english.analyze(" ".join(text_analyzer(language).analyze(prepared))) for language in others]
    # Readings of equal length stand word under word; a stemmer that drops a word is appended as a whole.
    if len({len(reading) for reading in readings}) == 1:
        return [term for word in zip(*readings, strict=True) for term in dict.fromkeys(word)]
    return [term for reading in readings for term in reading]
