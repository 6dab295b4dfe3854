"""What is known of a language: one file each in ``languages/``. A language without a file is read by the neutral rules.

To add a language, add ``languages/<ISO 639-1 code>.toml`` with any of the fields of `Language`; nothing else changes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

import msgspec

FOLDER = Path(str(files("engine.analysis") / "languages"))
DEFAULT_LANGUAGE = "en"
NEUTRAL = "any"
"""The file of what holds in all languages."""
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_CLINGING = re.compile("[\uac00-\ud7af]")


class Phrases(msgspec.Struct, frozen=True):
    """The words that the offline agent adds to those of the documents; all of them or none."""

    not_found: str
    nothing: str
    query: str
    queries: str
    document: str
    documents: str
    missing: str
    verdict: str
    further: str
    more: str
    same: str
    other: str
    yes: str
    no: str
    others: str
    ask: str
    ask_any: str


class Language(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """One language. Strings hold words apart by spaces; tuples hold phrases of one or more words.

    Attributes:
        code: ISO 639-1, the name of the file.
        stemmer: of Snowball; empty leaves words as they are.
        common: frequent words, by which texts of one script are told apart.
        stop: words without content of their own.
        frame: words with which a question speaks of documents.
        capital_nouns: whether every noun is written with a capital, so that one such word alone is no name.
        asking: words that ask and say nothing of the subject.
        light: words with which a question is put and which its answer seldom repeats: "what does it **mean**".
        unspaced: as `stop`, of a script without spaces; they part a question.
        which: words that the wanted kind follows: "which **city**".
        amount, money, time, person, place: what asks for that kind of answer.
        how: what asks for the steps of doing something.
        makes: words for writing, sending and making, and for what is written: they ask who made a document, or when.
        numbers, times, currencies: words that give an amount, a time, and an amount of money.
        months: twelve, each with its forms apart by spaces.
        after, since, before, until, between, joins: what stands before a date, and between two.
        within: what stands before a month or a year alone.
        postposed: whether all of these may stand behind the date instead.
        periods: ten, each with its forms apart by "|": today, yesterday, then this and the last week, month, quarter
            and year.
        spans: four likewise, of days, weeks, months and years, with ``{n}``: "last {n} days".
        quarter: forms of "quarter" of a year; `ordinals`, "first" to "fifth" with their forms; `final`, "last". Words
            of one form are joined by "_".
        contrast, joints: what sets a part of a question against the one before it, and what joins it.
        papers: what a question calls documents: "the mail about …", "which tickets …".
        listing: what opens a question for several things: "which", "list".
        yes_no: words that open a question for yes or no.
        negation: words that deny.
        leaning: what a sentence opens with that stands for something before it.
        opens: what a follow-up opens with.
        pronouns: words that take their meaning from what was said before.
        boilerplate: what stands in no sentence that answers.
        across: what asks for more than one reading at once.
        current: what asks for the newest.
        person_facts, time_facts: what attributes are called that say who made a document, and when.
        never_last, before_number, may_be_last, starters, after_ordinal: where a full stop ends no sentence; see
            `engine.text.sentences`.
    """

    code: str
    name: str
    stemmer: str = ""
    common: str = ""
    stop: str = ""
    capital_nouns: bool = False
    frame: str = ""
    asking: str = ""
    light: str = ""
    unspaced: str = ""
    which: str = ""
    amount: tuple[str, ...] = ()
    money: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    makes: str = ""
    numbers: str = ""
    times: str = ""
    currencies: str = ""
    months: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    within: str = ""
    postposed: bool = False
    periods: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    quarter: str = ""
    ordinals: tuple[str, ...] = ()
    final: str = ""
    listing: tuple[str, ...] = ()
    papers: str = ""
    contrast: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    yes_no: str = ""
    negation: str = ""
    leaning: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    pronouns: str = ""
    boilerplate: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    never_last: str = ""
    before_number: str = ""
    may_be_last: str = ""
    starters: str = ""
    after_ordinal: str = ""
    person_facts: str = ""
    time_facts: str = ""
    says: Phrases | None = None

    @cached_property
    def empty(self) -> frozenset[str]:
        """Words, lower case, that say nothing of a subject."""
        return frozenset(f"{self.stop} {self.common} {self.asking} {self.frame}".lower().split())

    def pattern(self, *fields: str) -> re.Pattern[str]:
        """What finds a word or phrase of `fields` as a whole; in a script without spaces, anywhere."""
        found = self._patterns.get(fields)
        if found is None:
            found = self._patterns[fields] = _pattern(self, fields)
        return found

    @cached_property
    def _patterns(self) -> dict[tuple[str, ...], re.Pattern[str]]:
        return {}


def read_language(path: Path) -> Language:
    """The language of one file.

    Raises:
        ValueError: a field is not one of `Language`, or of another type.
    """
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        return msgspec.convert({"code": path.stem, **held}, Language)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path.name}: {error}") from error


@cache
def languages() -> dict[str, Language]:
    """Every language with a file, by code; without the neutral one."""
    return {path.stem: read_language(path) for path in sorted(FOLDER.glob("*.toml")) if path.stem != NEUTRAL}


@cache
def neutral() -> Language:
    """What holds in all languages."""
    return read_language(FOLDER / f"{NEUTRAL}.toml")


def language(code: str) -> Language:
    """The language of `code`; one without any data where there is no file."""
    return languages().get(code) or _unknown(code)


@cache
def _unknown(code: str) -> Language:
    return Language(code, code)


def _pattern(of: Language, fields: tuple[str, ...]) -> re.Pattern[str]:
    held: list[str] = []
    for field in fields:
        value: str | tuple[str, ...] = getattr(of, field)
        held += value.split() if isinstance(value, str) else value
    parts: list[str] = []
    words: list[str] = []
    for phrase in sorted(set(held), key=lambda phrase: (-len(phrase), phrase)):
        escaped = "\\s+".join(map(re.escape, phrase.split()))
        if (apart := _apart(escaped, phrase)) is None:
            words.append(escaped)
        else:
            parts += [*_whole(words), apart]
            words = []
    parts += _whole(words)
    return re.compile("|".join(parts) if parts else r"(?!)", re.IGNORECASE)


def _whole(words: Sequence[str]) -> list[str]:
    # One look behind for all of them: a look for each takes five times as long.
    return [rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"] if words else []


def _apart(escaped: str, phrase: str) -> str | None:
    """None for a whole word; in Korean, where particles cling to it, the beginning or the end of one; else anywhere."""
    if _CLINGING.search(phrase):
        return rf"(?:(?<!\w){escaped}|{escaped}(?!\w))"
    return escaped if not phrase[0].isalnum() or _SPACELESS.search(phrase) else None
