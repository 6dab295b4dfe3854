"""Words that say nothing of their own: they count little in a question, and everything is indexed all the same."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from engine.lexical.analyzer import DEFAULT_LANGUAGE, query_terms
from engine.text.function_words import CYRILLIC, LATIN

_ENGLISH = """
a about according after also an and any are as at be been before being between both but by can could did do
does during each for from had has have he her his how i if in into is it its may might must no not of on one
or other over own s same shall she should so some such t than that the their them then there these they this
those though through to too under until up upon was we were what when where whether which while who whom whose
why will with within would you your
"""
"""With the words that make a sentence a question, which stand in no answer."""
_LISTED = {**LATIN, **CYRILLIC}


def stop_terms(languages: Collection[str]) -> frozenset[str]:
    """Function and question words of English and of `languages`, as the index holds them."""
    return _terms(frozenset({DEFAULT_LANGUAGE, *languages}))


@cache
def _terms(languages: frozenset[str]) -> frozenset[str]:
    words = " ".join(_LISTED.get(language, "") for language in languages - {DEFAULT_LANGUAGE})
    return frozenset(query_terms(f"{words} {_ENGLISH}", sorted(languages)))
