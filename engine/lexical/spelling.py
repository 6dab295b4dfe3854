"""The indexed word that an unknown one of a question most likely meant."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 5
"""Shorter words have too many neighbours that mean something else."""
PREFIX = 3
"""Letters that are taken as right: most slips come later in a word, and the index can only be asked by prefix."""


def may_be_misspelt(term: str) -> bool:
    """Whether a neighbour of `term` may be looked for: a word of letters, not a number or a code.

    >>> may_be_misspelt("pleurbrachia"), may_be_misspelt("nt5c2"), may_be_misspelt("cart")
    (True, False, False)
    """
    return len(term) >= SHORTEST and term.isalpha()


def closest(term: str, known: Iterable[tuple[str, int]]) -> str | None:
    """The most frequent of `known` (terms, each with its frequency) one slip away from `term`; None without one."""
    near = [(frequency, found) for found, frequency in known if is_one_slip_away(term, found)]
    return max(near)[1] if near else None


def is_one_slip_away(a: str, b: str) -> bool:
    """Whether one letter added, left out, replaced, or two neighbours swapped make `b` of `a`.

    That is distance 1 of Damerau (1964), who found four of five misspellings to be of this kind.

    >>> [is_one_slip_away("ferry", other) for other in ("fery", "ferrry", "fairy", "feryr", "ferry")]
    [True, True, False, True, False]
    """
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) != len(b):
        longer, shorter = (a, b) if len(a) > len(b) else (b, a)
        return longer[at + 1 :] == shorter[at:]
    swapped = a[at : at + 2] == b[at : at + 2][::-1]
    return a[at + 1 :] == b[at + 1 :] or (swapped and a[at + 2 :] == b[at + 2 :])
