"""Quotations in a text, in whatever marks they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.agent.answer.addresses import folded

LEAST = 3
"""Characters below which marks do not make a quotation: ``rock 'n' roll``."""
_DOUBLE = re.compile('[“"„«»「『《〈]([^“”"„«»「」『』《》〈〉]+?)[”"“»«」』》〉]')
# An apostrophe stands behind a letter and closes nothing within a word.
_SINGLE = re.compile(r"(?<!\w)['‘‚‹›](?=\S)((?:[^'’‘‚‹›\n]|(?<=\w)['’](?=\w))+?)(?<=\S)['’‘›‹](?!\w)")
_GAP = re.compile(r"\s*(?:\[?(?:…|\.\.\.)\]?)\s*")
_EDGES = " .,;:!?…'’‘\"“”"


def quotations(text: str) -> list[str]:
    """What stands between quotation marks, in order.

    >>> quotations("He said 'we can't go on' and “never again”; the dogs' food.")
    ["we can't go on", 'never again']
    """
    found = [(match.start(), match[1].strip()) for form in (_DOUBLE, _SINGLE) for match in form.finditer(text)]
    return [quoted for _, quoted in sorted(found) if len(quoted) >= LEAST]


def strange_quotations(text: str, sources: Iterable[str]) -> list[str]:
    """Quotations that stand in none of `sources`; of one with gaps, every part must stand in the same."""
    found = quotations(text)
    held = [_even(source) for source in sources] if found else []
    return [quoted for quoted in found if not any(all(part in source for part in _parts(quoted)) for source in held)]


def _parts(quoted: str) -> list[str]:
    return [part for piece in _GAP.split(quoted) if (part := _even(piece).strip(_EDGES))]


def _even(text: str) -> str:
    """Marks made one, because a quotation within a quotation changes its own."""
    return re.sub('[“”„«»"‘’‚‹›]', "'", folded(text))
