"""What is really asked in a turn: the objective, or a message read together with what came before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cache

from engine.analysis.analyzer import query_terms
from engine.analysis.language import language
from engine.question.asked_language import question_language
from engine.question.dates import dates_in
from engine.question.terms import without_content

FEW_WORDS = 3
"""Content words up to which a message does not stand alone."""
LEANING_WORDS = 6
"""The same for a message that leans on what came before by a pronoun or by its opening word."""
_ANY_DAY = date(2000, 1, 1)
"""Only where dates stand matters here, not which days they mean."""


def asked_in_turn(objective: str, messages: Sequence[str]) -> str:
    """The text that a turn answers, readable on its own by the words it holds; `messages` are the oldest first."""
    text = objective
    for message in messages:
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
    code = question_language(f"{before} {message}")
    if not is_elliptic(message, code):
        return message.strip()
    rest = _opening(code).sub("", message).strip() or message.strip()
    if dates_in(rest, _ANY_DAY, code):
        before = _without_dates(before, code)
    return before if rest.casefold() in before.casefold() else f"{before} {rest}"


def is_elliptic(message: str, code: str) -> bool:
    """Whether `message` needs what came before: it is short, or leans on it by a pronoun or an opening word."""
    count = len(set(query_terms(message)) - without_content(code))
    return count <= FEW_WORDS or (count <= LEANING_WORDS and _leans(message, code))


def _leans(message: str, code: str) -> bool:
    return _opening(code).match(message) is not None or language(code).pattern("pronouns").search(message) is not None


@cache
def _opening(code: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:\W*(?:{language(code).pattern('opens').pattern})[\s,]*)+", re.IGNORECASE)


def _without_dates(text: str, code: str) -> str:
    leads = language(code).pattern("within", "after", "since", "before", "until", "between").pattern
    leading = re.compile(rf"\s+(?:{leads})\s*(?:(?!\d)\w{{1,3}}\s+)?$", re.IGNORECASE)
    for mention in reversed(dates_in(text, _ANY_DAY, code)):
        head = leading.sub("", text[: mention.start].rstrip() + " ")
        text = head.rstrip() + text[mention.stop :]
    return " ".join(text.split())
