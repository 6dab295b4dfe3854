"""Dates and ranges of dates in a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

import msgspec

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?P<year>(?:1[5-9]|20)\d\d)-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>[0-3]\d))?(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?\b",
        rf"\b{_MONTH}\s+{_DAY}\s*,?\s+{_YEAR}\b",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\s*,?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s*,?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY}\b(?!\s*[,.]?\d)",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b",
    )
)
_BARE_YEAR = re.compile(
    rf"\b(?:in|of|since|before|after|during|by|until|till|from|to|and|between|year|early|late|mid)[\s-]+(?:the\s+year\s+)?{_YEAR}\b(?!s\b)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?P<which>last|this|past|previous|current)\s+(?P<unit>week|month|year)\b|\b(?P<day>today|yesterday)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\b(?:after|since|following|from|starting|post|later than)\s+(?:the\s+)?$", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|until|till|prior to|by|up to|earlier than)\s+(?:the\s+)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\s+$", re.IGNORECASE)
_BEYOND = re.compile(
    r"\b(?:after|following|post|later than|before|prior to|earlier than)\s+(?:the\s+)?$", re.IGNORECASE
)
"""Of these, what leaves a whole month or year out."""
_LEAD = 40
"""Characters before a date that may say "after" or "before"."""
_AND = re.compile(r"^\s*,?\s*(?:and|to|until|till|through|[-–—])\s+$", re.IGNORECASE)


class DateMention(msgspec.Struct, frozen=True):
    """A date that a question names.

    Attributes:
        first: first day meant; None for "before …".
        end: the day after the last one meant; None for "after …".
        start, stop: where it stands in the text, ``[start, stop)``.
    """

    first: date | None
    end: date | None
    start: int
    stop: int


def dates_in(text: str, today: date) -> list[DateMention]:
    """Every date and range of dates, in order; none overlaps another.

    "After" and "before" a day include the day itself: questions use them loosely, and a query that narrows too much
    costs more than one that narrows too little. A month or a year is left out; "since", "from" and "until" keep it.

    >>> [(str(m.first), str(m.end)) for m in dates_in("after October 2023 and on 5 May 2022", date(2024, 1, 1))]
    [('2023-11-01', 'None'), ('2022-05-05', '2022-05-06')]
    """
    points = sorted(_points(text, today), key=lambda m: (m.start, m.start - m.stop))
    kept: list[DateMention] = []
    for point in points:
        if not kept or point.start >= kept[-1].stop:
            kept.append(point)
    return _ranges(text, kept)


def _points(text: str, today: date) -> Iterator[DateMention]:
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            if any(match.start() < stop and start < match.end() for start, stop in taken):
                continue
            span = _span_of(match.groupdict(), today)
            if span is not None:
                taken.append((match.start(), match.end()))
                yield DateMention(*span, match.start(), match.end())
    for match in _BARE_YEAR.finditer(text):
        start, stop = match.span("year")
        if not any(start < other and begin < stop for begin, other in taken):
            year = int(match["year"])
            yield DateMention(date(year, 1, 1), date(year + 1, 1, 1), start, stop)
    for match in _RELATIVE.finditer(text):
        first, end = _relative(match, today)
        yield DateMention(first, end, *match.span())


def _span_of(found: dict[str, str | None], today: date) -> tuple[date, date] | None:
    if (name := found.get("month")) is not None:
        month = next(n for n, full in enumerate(MONTHS, 1) if full.startswith(name.casefold()[:3]))
    else:
        month = int(found["number"] or 1)
    day = found.get("day")
    year = int(found.get("year") or 0)
    try:
        if not year:
            # Without a year: the latest such day that is not in the future.
            year = today.year if date(today.year, month, int(day or 1)) <= today else today.year - 1
        if day is None:
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        first = date(year, month, int(day))
    except ValueError:
        return None
    return first, first + timedelta(days=1)


def _relative(match: re.Match[str], today: date) -> tuple[date, date]:
    if (day := match["day"]) is not None:
        first = today - timedelta(days=day.casefold() == "yesterday")
        return first, first + timedelta(days=1)
    back = 0 if match["which"].casefold() in ("this", "current") else 1
    match match["unit"].casefold():
        case "year":
            return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)
        case "month":
            last = (today.year * 12 + today.month - 1) - back
            return date(last // 12, last % 12 + 1, 1), date((last + 1) // 12, (last + 1) % 12 + 1, 1)
        case _:
            first = today - timedelta(days=today.weekday() + 7 * back)
            return first, first + timedelta(days=7)


def _ranges(text: str, points: list[DateMention]) -> list[DateMention]:
    """Points with the words before them: "between A and B", "after A", "before B", "after A and before B"."""
    out: list[DateMention] = []
    number = 0
    while number < len(points):
        point = points[number]
        lead = text[max(0, point.start - _LEAD) : point.start]
        following = points[number + 1] if number + 1 < len(points) else None
        if (
            following is not None
            and _BETWEEN.search(lead)
            and _AND.match(text[point.stop : following.start])
            and point.first is not None
            and following.end is not None
            and point.first < following.end
        ):
            out.append(DateMention(point.first, following.end, point.start, following.stop))
            number += 2
            continue
        if _BEYOND.search(lead) and point.first is not None and point.end is not None:
            point = _without_itself(point, point.first, point.end)
        if _AFTER.search(lead):
            out.append(DateMention(point.first, None, point.start, point.stop))
        elif _BEFORE.search(lead):
            before = DateMention(None, point.end, point.start, point.stop)
            opened = out[-1] if out else None
            if (
                opened is not None
                and opened.end is None
                and opened.first is not None
                and point.end is not None
                and opened.first < point.end
                and point.start - opened.stop <= _LEAD
                and len(text[opened.stop : point.start].split()) <= 4
            ):
                out[-1] = DateMention(opened.first, point.end, opened.start, point.stop)
            else:
                out.append(before)
        else:
            out.append(point)
        number += 1
    return out


def _without_itself(point: DateMention, first: date, end: date) -> DateMention:
    """A month or a year as what lies after it begins, and what lies before it ends; a day stays."""
    return point if end - first <= timedelta(days=1) else msgspec.structs.replace(point, first=end, end=first)
