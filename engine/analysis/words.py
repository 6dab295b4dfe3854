"""The words of a text as they are written, with the terms that the index holds for them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from engine.analysis.analyzer import language_of, text_analyzer
from engine.analysis.language import DEFAULT_LANGUAGE
from engine.analysis.scripts import prepare_query
from engine.analysis.tokenizer import TextAnalyzer, make_splitter


def words_with_terms(text: str) -> list[tuple[str, str]]:
    """Distinct words of a query in order, in lower case without accents, each with its term in the query's language.

    >>> words_with_terms("The foxes' den")
    [('the', 'the'), ('foxes', 'fox'), ('den', 'den')]
    """
    prepared = prepare_query(text)
    language = language_of(text)
    words, terms = _splitter().analyze(prepared), text_analyzer(language).analyze(prepared)
    if language != DEFAULT_LANGUAGE:
        terms = text_analyzer(DEFAULT_LANGUAGE).analyze(" ".join(terms))
    if len(words) != len(terms):
        return []
    return list(dict(zip(words, terms, strict=True)).items())


@cache
def _splitter() -> TextAnalyzer:
    return make_splitter()


_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]+")


def folded(text: str) -> str:
    """Case and accents removed."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
