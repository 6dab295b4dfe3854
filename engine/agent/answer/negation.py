"""Words that deny, by language: a statement that denies what its source affirms differs by one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
_WORDS = frozenset(_DENYING.split())
_PARTS = re.compile(r"n['’]t\b|不|没|沒|無|无|未|非|ない|ません|なかった|않|없|아니|못|ไม่|มิได้", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)


def denies(text: str) -> bool:
    """Whether a word of `text` denies.

    >>> denies("It doesn't rain."), denies("Es regnet nicht."), denies("It rains.")
    (True, True, False)
    """
    return _PARTS.search(text) is not None or any(word in _WORDS for word in _WORD.findall(text.casefold()))


def turned_around(text: str, excerpts: Sequence[str]) -> str:
    """Why `text` may say the opposite of `excerpts`; empty when nothing points to it."""
    if denies(text):
        return "" if any(denies(excerpt) for excerpt in excerpts) else "it denies something, and no excerpt does"
    if excerpts and all(denies(excerpt) for excerpt in excerpts):
        return "every excerpt denies something, and it does not"
    return ""
