"""Words that say nothing of their own: they count little in a question, and everything is indexed all the same."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from engine.analysis.analyzer import query_terms
from engine.analysis.language import DEFAULT_LANGUAGE, language


def stop_terms(languages: Collection[str]) -> frozenset[str]:
    """Function and question words of English and of `languages`, as the index holds them."""
    return _terms(frozenset({DEFAULT_LANGUAGE, *languages}))


@cache
def _terms(languages: frozenset[str]) -> frozenset[str]:
    words = " ".join(language(code).common for code in languages - {DEFAULT_LANGUAGE})
    return frozenset(query_terms(f"{words} {language(DEFAULT_LANGUAGE).stop}", sorted(languages)))
