"""Whether a text asks for something or states it: what stands in the right passage differs."""

from __future__ import annotations

import re

_MARK = re.compile("[?？؟՞፧⁇⁈]|;$")
_ASKS_WHICH = re.compile(
    r"\W*(?:(?:in|on|at|of|from|by|to|for|with|under|about|during|since|until|through|into|and|so|according to)\W+)?"
    r"(?:who|whom|whose|which|what|when|where|why|how)\b",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b", re.IGNORECASE
)
_GREEK = re.compile(r"[Ͱ-Ͽ]")


def asks(text: str) -> bool:
    """Whether `text` is a question: by its mark, or in English by its first words, for many leave the mark out.

    >>> asks("in which year was the bridge built"), asks("Bridges of steel outlast those of iron.")
    (True, False)
    """
    stripped = text.strip()
    mark = _MARK.search(stripped)
    if mark and (mark.group() != ";" or _GREEK.search(stripped)):
        return True
    return _ASKS_WHICH.match(stripped) is not None or _ASKS_WHETHER.match(stripped) is not None
