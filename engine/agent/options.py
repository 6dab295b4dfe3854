"""Which option of a question back an answer means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from engine.analysis.language import languages
from engine.analysis.scripts import is_unspaced
from engine.analysis.words import folded

MAX_WORDS = 8
"""A longer message is no choice by number."""
_WORD = re.compile(r"[^\s.,;:!?\"'’“”()…،؟。、！？।]+")
"""Not by letters: combining marks of Indic scripts are none."""
_SIGNS = ("a 1 1st", "b 2 2nd", "c 3 3rd", "d 4 4th", "e 5 5th")
"""How places are named in every language."""


def meant(message: str, options: Sequence[str]) -> str | None:
    """The option that `message` names by its words, inside a sentence too, or by its place; None when it is not clear.

    >>> meant("The second one, please.", ["Pellam bridge", "Orrin bridge"])
    'Orrin bridge'
    >>> meant("I mean the one in Orrin", ["Pellam bridge", "Orrin bridge"])
    'Orrin bridge'
    """
    said = " ".join(folded(message).split()).strip(" .!?。！？।")
    plain = [" ".join(folded(option).split()) for option in options]
    for names in (
        [n for n, option in enumerate(plain) if option == said],
        [n for n, option in enumerate(plain) if option in said],
        [n for n, option in enumerate(plain) if len(said) > 1 and said in option],
        _told_apart(said, plain),
    ):
        if names:
            return options[names[0]] if len(names) == 1 else None
    words = _WORD.findall(said)
    if len(words) > MAX_WORDS:
        return None
    places = {place for place, form in _places(len(options)) if _stands(form, said, words)}
    place = places.pop() if len(places) == 1 else len(options)
    return options[place] if place < len(options) else None


def _told_apart(said: str, options: Sequence[str]) -> list[int]:
    """Options of which a word is said that no other has."""
    held = [set(_WORD.findall(option)) for option in options]
    words = set(_WORD.findall(said))
    return [
        n for n, own in enumerate(held) if words & own.difference(*(other for m, other in enumerate(held) if m != n))
    ]


def _places(count: int) -> list[tuple[int, str]]:
    """Places with the forms that name them, in all languages; the last is that of `count` options."""
    return [(count - 1 if place < 0 else place, form) for place, form in _forms()]


@cache
def _forms() -> tuple[tuple[int, str], ...]:
    found = [(place, form) for place, forms in enumerate(_SIGNS) for form in forms.split()]
    for held in languages().values():
        found += [(n, form) for n, forms in enumerate(held.ordinals) for form in forms.split()]
        found += [(-1, form) for form in held.final.split()]
    return tuple(dict.fromkeys((place, folded(form).replace("_", " ")) for place, form in found))


def _stands(form: str, said: str, words: Sequence[str]) -> bool:
    if is_unspaced(form[-1]):
        return form in said
    # A letter by itself is a choice; within words it is an article.
    return f" {form} " in f" {' '.join(words)} " and (len(words) == 1 or len(form) > 1 or form.isdecimal())
