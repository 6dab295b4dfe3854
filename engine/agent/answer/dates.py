"""Dates in a text, however they are written, so that a date may be rewritten but not changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

_MONTH_TABLE = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
jan feb mar apr may jun jul aug sep oct nov dec
jänner _ mrz _ mai _ _ ago sept okt _ dez
_ _ _ abr maj _ _ _ _ _ _ dic
"""
_MONTHS = {
    name: number
    for row in _MONTH_TABLE.strip().splitlines()
    for number, name in enumerate(row.split(), 1)
    if name != "_"
}
_NAMED = "|".join(sorted(map(re.escape, _MONTHS), key=len, reverse=True))
_DAY = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th|\.|er|º)?"
_YEAR = r"(?P<y>[12]\d{3})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<y>[12]\d{3})-(?P<m>[01]\d)-(?P<d>[0-3]\d)(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)",
        r"(?<![\d-])(?P<y>[12]\d{3})-(?P<m>0[1-9]|1[0-2])(?![\d-])",
        r"(?P<y>[12]\d{3})\s?[年년]\s?(?:(?P<m>[01]?\d)\s?[月월]\s?)?(?:(?P<d>[0-3]?\d)\s?[日号일])?",
        rf"(?<![\w]){_DAY}\s+(?:(?:of|de|di|do)\s+)?(?P<n>{_NAMED})\.?,?(?:\s+(?:de\s+|del\s+)?{_YEAR})?(?!\w)",
        rf"(?<!\w)(?P<n>{_NAMED})\.?\s+{_DAY}(?!\d)(?:,?\s+{_YEAR}(?!\d))?",
        rf"(?<!\w)(?P<n>{_NAMED})\.?,?\s+(?:de\s+|del\s+)?{_YEAR}(?!\d)",
    )
)
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2([12]\d{3}|\d{2})(?!\d)")


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
    written = unicodedata.normalize("NFC", text)
    found = [
        Found(match.start(), match.end(), (_date(match),))
        for form in _FORMS
        for match in form.finditer(written)
        if _is_date(_date(match))
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


def known(date: Found, sources: Iterable[Found]) -> bool:
    """Whether a date says the same as one of `sources`, or less."""
    return any(
        mine.says_no_more_than(theirs) for source in sources for theirs in source.readings for mine in date.readings
    )


def _date(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    named = parts.get("n")
    month = _MONTHS[named.casefold()] if named else _whole(parts.get("m"))
    return Date(_whole(parts.get("y")), month, _whole(parts.get("d")))


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
