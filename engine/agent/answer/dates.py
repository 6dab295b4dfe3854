"""Dates in a text, however they are written, so that a date may be rewritten but not changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

from engine.analysis.language import languages

_DAY = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th|\.|er|º)?"
_YEAR = r"(?P<y>[12]\d{3})"
_SHORT = 3
_DIGIT = re.compile(r"\d")
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2([12]\d{3}|\d{2})(?!\d)")


@cache
def _months() -> dict[str, int]:
    """Names of months in every language with a file, and their numbers."""
    forms = [
        (form, number)
        for each in languages().values()
        for number, names in enumerate(each.months, 1)
        for form in names.lower().split()
        if not any(character.isdigit() for names in each.months for character in names)
    ]
    return dict(reversed(forms))


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    named = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    return tuple(
        re.compile(form, re.IGNORECASE)
        for form in (
            r"(?<!\d)(?P<y>[12]\d{3})-(?P<m>[01]\d)-(?P<d>[0-3]\d)(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)",
            r"(?<![\d-])(?P<y>[12]\d{3})-(?P<m>0[1-9]|1[0-2])(?![\d-])",
            r"(?P<y>[12]\d{3})\s?[年년]\s?(?:(?P<m>[01]?\d)\s?[月월]\s?)?(?:(?P<d>[0-3]?\d)\s?[日号일])?",
            rf"(?<![\w]){_DAY}\s+(?:(?:of|de|di|do)\s+)?(?P<n>{named})\.?,?(?:\s+(?:de\s+|del\s+)?{_YEAR})?(?!\w)",
            rf"(?<!\w)(?P<n>{named})\.?\s+{_DAY}(?!\d)(?:,?\s+{_YEAR}(?!\d))?",
            rf"(?<!\w)(?P<n>{named})\.?,?\s+(?:de\s+|del\s+)?{_YEAR}(?!\d)",
        )
    )


class Date(NamedTuple):
    """A date, parts of which may not be said."""

    year: int | None
    month: int | None
    day: int | None

    def says_no_more_than(self, other: Date) -> bool:
        """Whether every part that this one names is the same in `other`."""
        return all(mine is None or mine == theirs for mine, theirs in zip(self, other, strict=True))


class Found(NamedTuple):
    """A date where it stands. A numeric one may be read in two ways."""

    start: int
    end: int
    readings: tuple[Date, ...]


def dates(text: str) -> list[Found]:
    """The dates of `text` in order, apart from each other; years alone are numbers and no dates.

    >>> [found.readings[0] for found in dates("From 4 May 1987 to 1988-01-02.")]
    [Date(year=1987, month=5, day=4), Date(year=1988, month=1, day=2)]
    """
    if _DIGIT.search(text) is None:
        # No form of a date does without one; the search for names of months is dear.
        return []
    written = unicodedata.normalize("NFC", text)
    found = [
        Found(match.start(), match.end(), (_date(match),))
        for form in _forms()
        for match in form.finditer(written)
        if _is_date(_date(match)) and not _is_a_word(match)
    ]
    found += [
        Found(match.start(), match.end(), readings)
        for match in _NUMERIC.finditer(written)
        if (readings := _numeric(match))
    ]
    apart: list[Found] = []
    for one in sorted(found, key=lambda f: (f.start, -f.end)):
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def known(date: Found, sources: Iterable[Found], years: Collection[float] = ()) -> bool:
    """Whether a date says the same as one of `sources`, or less.

    Args:
        years: what may complete a date of a source that has no year, as the day of its publication does.
    """
    return any(
        mine.says_no_more_than(theirs)
        or (theirs.year is None and mine.year in years and mine._replace(year=None).says_no_more_than(theirs))
        for source in sources
        for theirs in source.readings
        for mine in date.readings
    )


def _date(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    named = parts.get("n")
    month = _months()[named.lower()] if named else _whole(parts.get("m"))
    return Date(_whole(parts.get("y")), month, _whole(parts.get("d")))


def _is_a_word(match: re.Match[str]) -> bool:
    """Short names of months are words of other languages: "3 out of 4" is no day of October."""
    found = match.groupdict()
    named = found.get("n")
    return named is not None and len(named) <= _SHORT and named.islower() and not (found.get("y") and found.get("d"))


def _whole(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _is_date(date: Date) -> bool:
    return date.month is not None and 1 <= date.month <= 12 and (date.day is None or 1 <= date.day <= 31)


def _numeric(match: re.Match[str]) -> tuple[Date, ...]:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    years = [year] if year >= 100 else [2000 + year, 1900 + year]
    pairs = [(first, second)] if first == second else [(first, second), (second, first)]
    readings = [Date(y, month, day) for y in years for day, month in pairs]
    return tuple(date for date in readings if _is_date(date))
