"""Proper names and figures in a question: what evidence for it must show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.analysis.scripts import CAPITAL
from engine.analysis.words import folded

MAX_NAMES = 12
_PARTICLES = "(?:(?:of|the|de|von|van|der|la|le|del|di|da|al|bin|&)[ \\t]+){0,2}"
_WORD = re.compile(r"(?<![\w’'])[^\W\d_][\w’'-]*|\d[\w.,]*")
_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]{2,80})[”\"“»]|(?<!\w)['‘]([^'‘’]{2,80})['’](?!\w)")
_FIGURE = re.compile(r"(?<![\w.,])[$€£]?\d[\d.,]*\d%?|(?<![\w.,])\d%?(?![\w.,]\w)")


def names_in(text: str, skip: Sequence[tuple[int, int]] = (), code: str = DEFAULT_LANGUAGE) -> list[str]:
    """Names, quotations and figures, in order, each once.

    Args:
        code: the language of the text.
        skip: stretches that name something else, such as sources and dates.

    >>> names_in("Did Sam Altman leave OpenAI before the “GPT-4” launch?")
    ['Sam Altman', 'OpenAI', 'GPT-4']
    >>> names_in("Когда открылся музей в Твери?", code="ru"), names_in("博物馆什么时候开门")
    (['Твери'], [])
    """
    found: list[tuple[int, str]] = []
    for pattern in (_capitalised(has_nouns=language(code).capital_nouns), _QUOTED, _FIGURE):
        for match in pattern.finditer(text):
            name = (
                next((group for group in match.groups() if group), match.group()) if match.groups() else match.group()
            )
            start, name = _trimmed(match.start(), name, language(code).empty.union(language(code).across))
            if name and not any(first < start + len(name) and start < stop for first, stop in skip):
                found.append((start, name))
    kept: list[str] = []
    for _, name in sorted(found):
        if not any(folded(name) in folded(other) for other in kept):
            kept.append(name)
    return kept[:MAX_NAMES]


@cache
def _capitalised(*, has_nouns: bool) -> re.Pattern[str]:
    """What finds words with capitals; where every noun has one, only several in a row, and capitals within a word."""
    capital = rf"[{CAPITAL}][\w&’'-]*"
    first = rf"(?:{capital}|[a-z]+[A-Z]\w*)"
    following = rf"(?:[ \t]+{'' if has_nouns else _PARTICLES}(?:{capital}|\d[\w.-]*))"
    within = rf"|\w+[{CAPITAL}]\w*" if has_nouns else ""
    return re.compile(rf"(?<![\w’'])(?:{first}{following}{'+' if has_nouns else '*'}{within})")


def named_words(text: str, code: str) -> list[str]:
    """Words behind the first that are written as names and figures are.

    >>> named_words("Is the Tower open in 2024?", "en"), named_words("Wo probt Ada Quill den Chor?", "de")
    (['Tower', '2024'], ['Ada', 'Quill'])
    """
    words = [match.group().rstrip(".,") for match in _WORD.finditer(text, 1)]
    words = [word for word in words if word[0].isdigit() or any(map(str.isupper, word))]
    if language(code).capital_nouns:
        held = frozenset(word for name in names_in(text, code=code) for word in name.split())
        words = [word for word in words if word in held]
    return words


def _trimmed(start: int, name: str, empty: frozenset[str]) -> tuple[int, str]:
    """Without leading words that are capitals only because they open a sentence, and without possessives."""
    tokens = name.split()
    while tokens and tokens[0].strip("’'").lower() in empty:
        start += len(tokens.pop(0)) + 1
    joined = " ".join(tokens)
    for ending in ("'s", "’s", "'", "’"):
        joined = joined.removesuffix(ending)
    return start, joined.strip(" .,-&")
