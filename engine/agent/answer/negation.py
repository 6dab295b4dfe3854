"""Words that deny, by language: a statement that denies what its source affirms differs by one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_DENYING = """
no not none never neither nor without cannot nothing nobody nowhere denied denies deny
nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand weder
ne pas jamais aucun aucune sans rien personne ni
nunca sin ningún ninguna ninguno nada nadie jamás tampoco
não nem sem nenhum nenhuma ninguém
non senza nessun nessuno nessuna niente nulla
niet geen nooit zonder niets niemand
не нет ни без никогда ничего никто нельзя
değil yok hiç asla hiçbir
inte ingen inget inga aldrig utan ikke aldri uten aldrig uden eikä ilman
nie bez nigdy nikt nic żaden
لا ليس ليست لم لن بدون غير
नहीं न मत बिना कभी
"""
_IMPLYING = """
free closed only except excluded excluding refused rejected failed less lack lacks lacking unable unlike instead
against nobody
abgelehnt ausgeschlossen ausgenommen außer kostenlos frei nur verboten fehlt fehlen abgestellt gesperrt geschlossen
statt gegen gescheitert
sauf fermé fermée gratuit gratuite exclu exclue seulement refusé interdit
excluidas excluidos excluida excluido salvo gratis solo sólo rechazado prohibido falta cerrado
"""
"""Words by which a source may say that something is not so, without denying it."""
_WORDS = frozenset(_DENYING.split())
_IMPLYING_WORDS = frozenset(_IMPLYING.split())
_PARTS = re.compile(r"不|没|沒|無|无|未|非|ない|ません|なかった|않|없|아니|못|ไม่|มิได้")
_CONTRACTED = re.compile(r"n['’]t$")
_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?|\d+(?:[.,]\d+)*|[.,;:!?()–—]")
_BREAKS = frozenset(".,;:!?()–—") | {
    *("and", "but", "while", "because", "since", "although", "und", "aber", "weil", "denn", "et", "mais", "car"),
    *("y", "pero"),
}
_SCOPE = 5
"""Words behind a denying one that it denies, if no clause ends before."""
_BEHIND = 3
"""Words before a denying one that it denies where nothing follows it in its clause."""
_SAME = 0.5
"""Share of the words of a scope beyond which a text is taken to speak of the same."""
_STEM, _SHORTEST = 5, 4
"""Letters that tell words apart, and those below which a word is of no subject."""


class _Said(NamedTuple):
    """What a text denies, as sets of stems, what else it says, and whether it denies at all, or implies that."""

    scopes: tuple[frozenset[str], ...]
    rest: frozenset[str]
    denies: bool
    implying: frozenset[str]


def denies(text: str) -> bool:
    """Whether a word of `text` denies.

    >>> denies("It doesn't rain."), denies("Es regnet nicht."), denies("It rains.")
    (True, True, False)
    """
    return _PARTS.search(text) is not None or any(map(_is_denying, _words(text)))


def turned_around(text: str, excerpts: Sequence[str]) -> str:
    """Why `text` may say the opposite of `excerpts`; empty when nothing points to it.

    What a denying word denies are the words behind it. That another clause of an excerpt denies something is no sign.

    >>> turned_around("Keep the room locked.", ["The room will not be locked, since nobody keeps the key."])
    'its excerpt denies something, and it does not'
    >>> turned_around("The room has a key.", ["The room has a key that nobody used."])
    ''
    """
    if any(_PARTS.search(each) for each in (text, *excerpts)):
        return _turned_as_a_whole(text, excerpts)
    mine, theirs = _read(text), [_read(excerpt) for excerpt in excerpts]
    if mine.denies and not any(other.denies or other.implying for other in theirs):
        return "it denies something, and no excerpt does"
    denied = frozenset(stem for scope in mine.scopes for stem in scope)
    others = [scope for other in theirs for scope in other.scopes if not scope & denied]
    if not mine.implying and any(_is_same(scope, mine.rest) for scope in others):
        return "its excerpt denies something, and it does not"
    if any(other.denies for other in theirs):
        return ""
    rest = frozenset(stem for other in theirs for stem in other.rest)
    for scope in mine.scopes:
        is_implied = any(other.implying - scope for other in theirs)
        if _is_same(scope, rest) and not is_implied:
            return "it denies what its excerpt says"
    return ""


def _turned_as_a_whole(text: str, excerpts: Sequence[str]) -> str:
    """The same where denying is part of a word, or words have no spaces between them."""
    if denies(text):
        return "" if any(denies(excerpt) for excerpt in excerpts) else "it denies something, and no excerpt does"
    if excerpts and all(denies(excerpt) for excerpt in excerpts):
        return "every excerpt denies something, and it does not"
    return ""


def _read(text: str) -> _Said:
    words = _words(text)
    scopes: list[frozenset[str]] = []
    denied: set[int] = set()
    for place, word in enumerate(words):
        if not _is_denying(word):
            continue
        behind = _until_break(range(place + 1, min(len(words), place + 1 + _SCOPE)), words)
        scope = [at for at in behind if _is_content(words[at])]
        if not scope:
            before = _until_break(range(place - 1, max(-1, place - 1 - _BEHIND), -1), words)
            scope = [at for at in before if _is_content(words[at])]
        denied |= set(scope)
        scopes.append(frozenset(words[at][:_STEM] for at in scope))
    rest = {word[:_STEM] for at, word in enumerate(words) if at not in denied and _is_content(word)}
    implying = frozenset(word[:_STEM] for word in words if word in _IMPLYING_WORDS)
    return _Said(tuple(scope for scope in scopes if scope), frozenset(rest), bool(scopes), implying)


def _until_break(places: range, words: Sequence[str]) -> list[int]:
    taken: list[int] = []
    for at in places:
        if words[at] in _BREAKS:
            break
        taken.append(at)
    return taken


def _is_same(scope: frozenset[str], said: frozenset[str]) -> bool:
    return len(scope & said) > _SAME * len(scope)


def _is_content(word: str) -> bool:
    return (len(word) >= _SHORTEST or word[0].isdigit()) and word not in _BREAKS and not _is_denying(word)


def _is_denying(word: str) -> bool:
    return word in _WORDS or _CONTRACTED.search(word) is not None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
