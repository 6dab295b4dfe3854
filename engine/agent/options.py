"""Which option of a question back an answer means."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_WORDS = 8
"""A longer message is no choice by number."""
_WORD = re.compile(r"[^\W_]+")
_FIRST_TO_FIFTH = """
first second third fourth fifth
erste zweite dritte vierte fünfte
erster zweiter dritter vierter fünfter
ersten zweiten dritten vierten fünften
erstes zweites drittes viertes fünftes
premier deuxième troisième quatrième cinquième
première seconde troisième quatrième cinquième
primero segundo tercero cuarto quinto
primera segunda tercera cuarta quinta
primo secondo terzo quarto quinto
prima seconda terza quarta quinta
primeiro segundo terceiro quarto quinto
primeira segunda terceira quarta quinta
eerste tweede derde vierde vijfde
первый второй третий четвёртый пятый
первая вторая третья четвёртая пятая
birinci ikinci üçüncü dördüncü beşinci
a b c d e
1 2 3 4 5
1st 2nd 3rd 4th 5th
"""
_PLACES = {word: n for row in _FIRST_TO_FIFTH.strip().splitlines() for n, word in enumerate(row.split())}
_LAST = frozenset(["last", "latter", "letzte", "letzter", "letzten", "dernier", "dernière", "último", "última"])
_CJK_PLACE = re.compile("第?([一二三四五1-5])[个個番つ]")
_CJK = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "1": 0, "2": 1, "3": 2, "4": 3, "5": 4}


def meant(message: str, options: Sequence[str]) -> str | None:
    """The option that `message` names by its words or by its place; None when that is not clear.

    >>> meant("The second one, please.", ["Pellam bridge", "Orrin bridge"])
    'Orrin bridge'
    >>> meant("orrin", ["Pellam bridge", "Orrin bridge"]), meant("bridge", ["Pellam bridge", "Orrin bridge"])
    ('Orrin bridge', None)
    """
    folded = " ".join(message.casefold().split()).strip(" .!?")
    for option in options:
        if option.casefold().strip() == folded:
            return option
    named = [
        option for option in options if option.casefold() in folded or (len(folded) > 1 and folded in option.casefold())
    ]
    if named:
        return named[0] if len(named) == 1 else None
    words = _WORD.findall(folded)
    places = {_PLACES[word] for word in words if word in _PLACES} if len(words) <= MAX_WORDS else set[int]()
    if len(words) > 1:
        # A letter by itself is a choice; within words it is an article.
        places -= {_PLACES[word] for word in words if len(word) == 1 and word.isalpha()}
    places |= {_CJK[match[1]] for match in _CJK_PLACE.finditer(folded)}
    if not places and _LAST.intersection(words):
        places = {len(options) - 1}
    place = next(iter(places)) if len(places) == 1 else len(options)
    return options[place] if place < len(options) else None
