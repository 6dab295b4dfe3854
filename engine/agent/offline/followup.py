"""What is really asked in a turn: the objective, or a message read together with what came before it."""

from __future__ import annotations

import re
from datetime import date

from engine.agent.offline.dates import dates_in
from engine.agent.offline.words import content_words
from engine.agent.steps import Question

FEW_WORDS = 3
"""Content words up to which a message does not stand alone."""
LEANING_WORDS = 6
"""The same for a message that leans on what came before by a pronoun or by its opening word."""
_OPENS = (
    r"and|or|but|also|then|so|what about|how about|what of|only|just|same|instead|except|without|more|again|yes|no|not"
    r"|ok|okay|well|please"
)
_PRONOUNS = (
    r"it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then"
    r"|the (?:same|other|latter|former|first|second|rest)"
)
_LEANS = re.compile(rf"^\W*(?:{_OPENS})\b|\b(?:{_PRONOUNS})\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:\W*(?:and|or|but|also|so|then|ok|okay|yes|no|well|please|what about|how about|what of|instead)\b[\s,]*)+",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(
    r"\s+(?:in|on|since|after|before|during|by|until|of|for|from|at)\s*(?:the\s+)?$", re.IGNORECASE
)
_ANY_DAY = date(2000, 1, 1)
"""Only where dates stand matters here, not which days they mean."""


def asked(question: Question) -> str:
    """The text that this turn answers, readable on its own by the words it holds."""
    text = question.request.objective
    for message in [*(turn.message for turn in question.turns[1:]), question.message]:
        text = follow_up(text, message) if message else text
    return text


def follow_up(before: str, message: str) -> str:
    """`message` as asked after `before`.

    A message that names its own subject stands alone. Otherwise it is added to `before`, whose dates give way to those
    of the message.

    >>> follow_up("How did sales of Acme in Spain develop in 2021?", "and in 2022?")
    'How did sales of Acme in Spain develop? in 2022?'
    >>> follow_up("Who runs Acme?", "Which bridges cross the river Danube in Vienna and Budapest?")
    'Which bridges cross the river Danube in Vienna and Budapest?'
    """
    if not is_elliptic(message):
        return message.strip()
    rest = _OPENING.sub("", message).strip() or message.strip()
    if dates_in(rest, _ANY_DAY):
        before = _without_dates(before)
    return before if rest.casefold() in before.casefold() else f"{before} {rest}"


def is_elliptic(message: str) -> bool:
    """Whether `message` needs what came before: it is short, or leans on it by a pronoun or an opening word."""
    count = len(set(content_words(message)))
    return count <= FEW_WORDS or (count <= LEANING_WORDS and _LEANS.search(message) is not None)


def _without_dates(text: str) -> str:
    for mention in reversed(dates_in(text, _ANY_DAY)):
        head = _BEFORE_DATE.sub("", text[: mention.start].rstrip() + " ")
        text = head.rstrip() + text[mention.stop :]
    return " ".join(text.split())
