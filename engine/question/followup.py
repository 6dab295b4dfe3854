"""What is really asked in a turn: the objective, or a message read together with what came before it.

The last message is what is asked. One that asks by itself ("What is her number?") takes the subject of the question
before it and the names of the last answer along, as words that count less. One that only changes the question before
it ("And on Saturday?") is that question with its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache

import msgspec

from engine.analysis.analyzer import query_terms
from engine.analysis.language import language
from engine.analysis.scripts import is_unspaced
from engine.question.asked_language import question_language
from engine.question.dates import dates_in
from engine.question.kinds import kind_words
from engine.question.names import names_in
from engine.question.shape import opens
from engine.question.terms import light_terms, parted, read_in, without_content

FEW_WORDS = 3
"""Content words up to which a message does not stand alone."""
CARRIED_WORDS = 8
"""Words that a message takes along at most; the latest first."""
LONGEST = 2_000
"""Characters of the question before that a message adds to, so that a long session does not ask ever more."""
_ANY_DAY = date(2000, 1, 1)
"""Only where dates stand matters here, not which days they mean."""
_MARKER = re.compile(r"\s*\[\d+\]")
_WORD = re.compile(r"[^\s,;:?!\"“”„«»()。、！？，；：（）؟।]+")
_ENDS = " .?!。！？؟।…,;:"


class Asked(msgspec.Struct, frozen=True):
    """The question of a turn.

    Attributes:
        text: readable on its own by the words it holds.
        now: what the latest message says; all of `text` where it stands alone.
        form: what tells the form of answer that is wanted.
        joined: where what the message takes along meets it: ``[start, stop)`` of `text` is one part of a question.
    """

    text: str
    now: str
    form: str
    joined: tuple[int, int] | None = None


def asked_in_turn(objective: str, exchanges: Sequence[tuple[str, str]]) -> Asked:
    """What a turn asks.

    Args:
        exchanges: what was answered, and the message that followed; oldest first. Empty messages are passed over.
    """
    asked = Asked(objective, objective, objective)
    for said, message in exchanges:
        if message:
            asked = follow_up(asked, message, said)
    return asked


def follow_up(before: Asked, message: str, said: str = "") -> Asked:
    """`message` as asked after `before`, which was answered by `said`; alone where it names its own subject.

    >>> sales = Asked(*["How did sales of Acme in Spain develop in 2021?"] * 3)
    >>> follow_up(sales, "and in 2022?").text
    'How did sales of Acme in Spain develop? in 2022?'
    >>> follow_up(sales, "Who runs it?", "They rose, says Acme's head Ada Quill [1].").text
    'Who runs it, Acme, Ada Quill, sales, Spain, develop, 2021'
    >>> follow_up(sales, "Which bridges cross the river Danube in Vienna and Budapest?").text
    'Which bridges cross the river Danube in Vienna and Budapest?'
    """
    code = question_language(f"{before.text} {message}")
    message = message.strip()
    if not is_elliptic(message, code):
        return Asked(message, message, message)
    rest = _opening(code).sub("", message).strip() or message
    if asks(rest, code):
        now = rest.rstrip(_ENDS)
        words = _each_once([*_named_by(said, code), *_subject(before.now, code), *_subject(before.text, code)], now)
        text = ", ".join([now, *words[:CARRIED_WORDS]])
        return Asked(text, rest, rest, (len(now) - 1, len(text)))
    kept = _without_dates(before.text, code) if dates_in(rest, _ANY_DAY, code) else before.text
    if rest.casefold() in kept.casefold():
        return msgspec.structs.replace(before, text=kept)
    text = f"{kept[:LONGEST]} {rest}"
    return Asked(text, rest, f"{before.form} {rest}", (0, len(text)))


def is_elliptic(message: str, code: str) -> bool:
    """Whether `message` needs what came before: it has few words of its own."""
    said = set(query_terms(parted(message, code))) - without_content(code)
    # A word of a script without spaces is about two pairs of characters.
    count = sum(0.5 if len(term) == 2 and is_unspaced(term) else 1.0 for term in said)
    return count <= FEW_WORDS


def asks(message: str, code: str) -> bool:
    """Whether `message` says by itself what kind of answer it wants.

    >>> asks("What is her number?", "en"), asks("On Saturday?", "en"), asks("Wann?", "de")
    (True, False, True)
    """
    held = language(code)
    if held.pattern("which", "amount", "money", "time", "person", "place", "how").search(message):
        return True
    usual = frozenset(f"{held.common} {held.pronouns} {' '.join(held.opens)}".split())
    asking = (match.group().lower() for match in held.pattern("asking").finditer(message))
    told = any(word not in usual and (len(word) > 1 or is_unspaced(word)) for word in asking)
    return told or opens(message, held.pattern("yes_no"))


@cache
def _opening(code: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:\W*(?:{language(code).pattern('opens').pattern})[\s,]*)+", re.IGNORECASE)


def _subject(text: str, code: str) -> Iterator[str]:
    """Words of a question that say what it is about, and not what is asked of it."""
    empty = without_content(code) | light_terms(code) | kind_words(text, code)
    asking = language(code).pattern("asking", "amount", "money", "time", "person", "place", "how", "unspaced")
    for written in _WORD.findall(asking.sub(" ", text)):
        word = written.strip(".'’")
        if word and not empty.issuperset(query_terms(word, read_in(code)) or [""]) and word.lower() not in empty:
            yield word


def _named_by(said: str, code: str) -> list[str]:
    """Names in the first sentence of an answer; in scripts without capitals its words with content.

    An answer without a citation is none, or a question back.
    """
    sentence, *cited = _MARKER.split(said, maxsplit=1)
    if not cited:
        return []
    if sentence.upper() == sentence.lower():
        return list(_subject(sentence, code))
    dates = [(day.start, day.stop) for day in dates_in(sentence, _ANY_DAY, code)]
    return [name for name in names_in(sentence, dates, code) if any(map(str.isalpha, name))]


def _each_once(words: Iterable[str], but: str) -> list[str]:
    """`words` that do not stand in those before them, or in `but`."""
    kept: list[str] = []
    held = but.casefold()
    for word in words:
        if word.casefold() not in held:
            kept.append(word)
            held = f"{held} {word.casefold()}"
    return kept


def _without_dates(text: str, code: str) -> str:
    leads = language(code).pattern("within", "after", "since", "before", "until", "between").pattern
    leading = re.compile(rf"\s+(?:{leads})\s*(?:(?!\d)\w{{1,3}}\s+)?$", re.IGNORECASE)
    for mention in reversed(dates_in(text, _ANY_DAY, code)):
        head = leading.sub("", text[: mention.start].rstrip() + " ")
        text = head.rstrip() + text[mention.stop :]
    return " ".join(text.split())
