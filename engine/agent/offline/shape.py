"""The form of answer that a question asks for."""

from __future__ import annotations

import re

from engine.agent.steps import AnswerShape

_YES_NO = re.compile(
    r"^\W*(?:does|did|do|is|was|are|were|has|have|had|can|could|will|would|should|am|may|might|must)\b", re.IGNORECASE
)
_COMPARISON = re.compile(
    r"\b(?:while|whereas|compare[ds]?|comparison|contrasts?|differ(?:s|ences?|ent)?|versus|vs|(?:dis)?agree(?:s|ment)?|align(?:s|ed)?"
    r"|(?:in)?consisten(?:t|cy)|more|less|fewer|\w+er)\b.{0,80}\b(?:while|whereas|than|or|versus|vs|and|between|with)\b",
    re.IGNORECASE | re.DOTALL,
)
_TEMPORAL = re.compile(
    r"^\W*(?:when|since when|how long|in (?:which|what) (?:year|month))\b|\bbetween\b.*\bchang",
    re.IGNORECASE | re.DOTALL,
)
_LIST = re.compile(
    r"^\W*(?:list|name|enumerate)\b|\b(?:which|what) (?:all\b|\w+s\b)(?! (?:is|was|the)\b)|\ball (?:the )?\w+s\b",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(r"^\W*(?:how|why|explain|describe|overview|summari[sz]e|tell)\b", re.IGNORECASE)


def shape_of(text: str) -> AnswerShape:
    """The first form that fits; ``fact`` when none does.

    >>> shape_of("When was the bridge built?"), shape_of("Is it open?"), shape_of("Who built it?")
    ('temporal', 'yes_no', 'fact')
    """
    for pattern, shape in _FORMS:
        if pattern.search(text):
            return shape
    return "fact"


_FORMS: tuple[tuple[re.Pattern[str], AnswerShape], ...] = (
    (_TEMPORAL, "temporal"),
    (_COMPARISON, "comparison"),
    (_YES_NO, "yes_no"),
    (_LIST, "list"),
    (_OVERVIEW, "overview"),
)
