"""Names that were nearly typed right."""

from __future__ import annotations

from collections.abc import Iterable

MOST_EDITS = 2


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name among `known` that is at most two edits away: the nearest, then the first; None when there is none.

    An edit puts in, leaves out or replaces a character, or swaps two neighbours (Damerau 1964).

    >>> nearest("shema", ["documents", "schema"])
    'schema'
    >>> nearest("unheard", ["documents", "schema"])
    """
    near = [(edits(name, each), each) for each in known if abs(len(name) - len(each)) <= MOST_EDITS]
    best = min(near, default=(MOST_EDITS + 1, ""))
    return best[1] if best[0] <= MOST_EDITS else None


def edits(first: str, second: str) -> int:
    """How many edits turn `first` into `second`; a swapped pair is edited once only.

    >>> edits("fitler", "filter"), edits("filter", "filters"), edits("", "abc")
    (1, 1, 3)
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        earlier, before, row = before, row, [i]
        for j, right in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == second[j - 2] and first[i - 2] == right:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
