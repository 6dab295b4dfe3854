"""Where a string may be cut without tearing what a reader sees as one character (after UAX #29, 3)."""

from __future__ import annotations

import unicodedata

_ZWJ = "\u200d"
_LOOK_BACK = 64
"""Longer clusters than this are torn: a line of a thousand accents must not cost a thousand steps a cut."""


def safe_cut(text: str, at: int, floor: int) -> int:
    """The last position in ``(floor, at]`` that is no part of a cluster; `at` itself where there is none close by.

    Args:
        text: what is cut.
        at: the latest place to cut, ``floor < at <= len(text)``.
        floor: the cut comes after this position.

    >>> safe_cut("e\u0301e\u0301", 3, 0)
    2
    """
    for position in range(at, max(floor, at - _LOOK_BACK), -1):
        if not _inside_cluster(text, position):
            return position
    return at


def _inside_cluster(text: str, position: int) -> bool:
    if position >= len(text):
        return False
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after)[0] == "M"
        or after == _ZWJ
        or before == _ZWJ
        or unicodedata.combining(before) == 9  # a virama: the next consonant is written into the same cluster
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of flags
        or "\u1160" <= after <= "\u11ff"  # vowels and finals of decomposed Hangul
        or (_is_regional(after) and _regionals_before(text, position) % 2 == 1)
    )


def _is_regional(character: str) -> bool:
    """Regional indicators are flags in pairs."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, position: int) -> int:
    count = 0
    while count < _LOOK_BACK and count < position and _is_regional(text[position - 1 - count]):
        count += 1
    return count
