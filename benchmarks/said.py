"""Whether an answer says what the gold says: the same reading for every program that scores whole searches."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_MARKER = re.compile(r"\s*\[\d+\]")


def first_sentence(synthesis: str) -> str:
    """What stands before the first citation.

    >>> first_sentence("The bridge is 212 m long [1]. It was opened in 1887 [2].")
    'The bridge is 212 m long'
    """
    return _MARKER.split(synthesis, maxsplit=1)[0]


def holds(text: str, gold: str) -> bool:
    """Whether `gold` stands in `text`, case and white space left out; a number never inside a longer number.

    >>> holds("It takes 3 hours.", "3Hours"), holds("It takes 13 hours.", "3 hours"), holds("v1.20 of 2026", "1.2")
    (True, False, False)
    """
    letters = [re.escape(letter) for letter in folded(gold)]
    if not letters:
        return False
    before = r"(?<!\d)(?<!\d[.,])" if gold.strip()[0].isdigit() else ""
    after = r"(?!\d)" if gold.strip()[-1].isdigit() else ""
    found = unicodedata.normalize("NFKC", text).casefold()
    return re.search(before + r"\s*".join(letters) + after, found) is not None


def folded(text: str) -> str:
    """`text` in compatibility form, case and white space removed."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return sum(values) / len(values) if values else float("nan")


def percent(value: float) -> str:
    """``.713``, or a dash for what was not asked.

    >>> percent(0.7131), percent(1.0), percent(float("nan"))
    ('.713', '1.000', '–')
    """
    return "–" if value != value else f"{value:.3f}".removeprefix("0")
