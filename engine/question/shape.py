"""The form of answer that a question asks for."""

from __future__ import annotations

import re
from typing import Literal

AnswerShape = Literal["fact", "yes_no", "comparison", "list", "temporal", "overview"]

_ASKS_WHICH = re.compile(
    r"^\W*(?:(?:in|on|at|of|from|by|to|for|with|under|according to|considering)\b.{0,200}?)?"
    r"\b(?:who|whom|whose|which|what|when|where|why|how)\b",
    re.IGNORECASE | re.DOTALL,
)
_YES_NO = re.compile(
    r"\b(?:does|did|do|is|was|are|were|has|have|had|can|could|will|would|should|may|might|must)\b", re.IGNORECASE
)
_OPENS_YES_NO = re.compile(rf"^\W*{_YES_NO.pattern}", re.IGNORECASE)
_COMPARISON = re.compile(
    r"\b(?:while|whereas|compare[ds]?|comparison|in contrast|contrasts?|differ(?:s|ences?|ent(?:ly)?)?|versus|vs|both"
    r"|(?:dis)?agree(?:s|ment)?|align(?:s|ed)?|(?:in)?consisten(?:t|cy)|similar(?:ly)?|same)\b"
    r"|\b(?:more|less|fewer|better|worse|earlier|later|higher|lower|larger|smaller|older|younger)\b.{0,80}\b(?:than|or)\b",
    re.IGNORECASE | re.DOTALL,
)
_TEMPORAL = re.compile(
    r"^\W*(?:since |until |by )?when\b|\bhow long\b|\b(?:which|what) (?:year|month|day|date)\b", re.IGNORECASE
)
_LIST = re.compile(
    r"^\W*(?:list|name|enumerate)\b|^\W*(?:which|what)(?: are(?: all)? the)? (?!\w*ss\b)\w+s (?!is\b|was\b|the\b)",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(r"^\W*(?:how|why|explain|describe|overview|summari[sz]e|tell)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"^\W*(?:between|before|after|since)\b", re.IGNORECASE)


def shape_of(text: str) -> AnswerShape:
    """The first form that fits; ``fact`` when none does.

    >>> shape_of("When was the bridge built?"), shape_of("Is it open?"), shape_of("Who built it?")
    ('temporal', 'yes_no', 'fact')
    """
    if _TEMPORAL.search(text):
        return "temporal"
    if not _ASKS_WHICH.match(text):
        if _BETWEEN.match(text) and _YES_NO.search(text):
            return "comparison"
        if _OPENS_YES_NO.match(text):
            return "comparison" if _COMPARISON.search(text) else "yes_no"
    if _LIST.match(text):
        return "list"
    return "overview" if _OVERVIEW.match(text) else "fact"
