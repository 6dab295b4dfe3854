"""Dates and ranges of dates in a question, in every language with a file: its words are data, the grammar is shared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache

import msgspec

from engine.analysis.language import DEFAULT_LANGUAGE, Language, language

_LEAD = 40
"""Characters before a date that may say "after" or "before", and between two that make a range."""
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º|ª|-?го|\.(?!\d)|\b)"
_FIRST = _DAY.replace("day", "first")
_OF = r"[\s,]*(?:(?:the|of|de|del|di|do|van|tháng|năm)\s+)*"
_ISO = rf"(?<![\w-]){_YEAR}-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>[0-3]\d))?(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"
_SIGNS = rf"(?<!\d)(?:{_YEAR}\s?[年년]\s?)(?:(?P<number>1?\d)\s?[月월]\s?(?:(?P<day>[0-3]?\d)\s?[日号일])?)?"
_SIGNS_ALONE = r"(?<!\d)(?P<number>1?\d)\s?[月월]\s?(?:(?P<day>[0-3]?\d)\s?[日号일])?"
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?![\w./-]*\d)")
_QUARTERS = (
    rf"(?<!\w)[QT](?P<quarter>[1-4])[\s/-]*(?:{_YEAR})?(?!\w)",
    rf"(?<!\w){_YEAR}[\s/-]*[QT](?P<quarter>[1-4])(?!\w)",
)
_DAYS = re.compile(r"\d{1,2}(?!\d)\D+\d{1,2}(?!\d)")
"""How a range within a month begins: "9 to 13 March"."""
_DASH = re.compile(r"\s*[-–—]\s*")
_MONTHS_BACK = (1, 3, 12)
Span = tuple[date, date]


class DateMention(msgspec.Struct, frozen=True):
    """A date that a question names.

    Attributes:
        first: first day meant; None for "before …".
        end: the day after the last one meant; None for "after …".
        start, stop: where it stands in the text, ``[start, stop)``.
        lead: where the words before it begin that belong to it, such as "since"; `start` without any.
    """

    first: date | None
    end: date | None
    start: int
    stop: int
    lead: int = -1


def dates_in(text: str, today: date, code: str = DEFAULT_LANGUAGE, latest: date | None = None) -> list[DateMention]:
    """Every date and range of dates, in order; none overlaps another. What may be read in two ways is left alone.

    "After" and "before" a day include the day itself: questions use them loosely, and a query that narrows too much
    costs more than one that narrows too little. A month or a year is left out; "since" and "until" keep it.

    Args:
        today: what "last month" counts from.
        code: the language of the text.
        latest: a date without a year is the last such one up to then; `today` where it is None.

    >>> [(str(m.first), str(m.end)) for m in dates_in("after October 2023 and on 5 May 2022", date(2024, 1, 1))]
    [('2023-11-01', 'None'), ('2022-05-05', '2022-05-06')]
    """
    grammar = _grammar(code)
    points = sorted(grammar.points(text, today, max(today, latest or today)), key=lambda m: (m.start, m.start - m.stop))
    kept: list[DateMention] = []
    for point in points:
        if not kept or point.start >= kept[-1].stop:
            kept.append(point)
    return [grammar.led(text, mention) for mention in grammar.ranges(text, kept)]


@cache
def _grammar(code: str) -> _Grammar:
    return _Grammar(language(code))


class _Grammar:
    """The forms in which one language writes dates."""

    def __init__(self, of: Language) -> None:
        self._code = of.code
        self._months = {form: n for n, forms in enumerate(of.months, 1) for form in forms.lower().split()}
        ordinals = [(n, form) for n, forms in enumerate(of.ordinals, 1) for form in forms.lower().split()]
        self._ordinals = {form.replace("_", " "): n for n, form in ordinals}
        named = "|".join(sorted(map(re.escape, self._months), key=len, reverse=True)) or r"(?!)"
        month = rf"(?<!\w)(?P<month>{named})(?!\w)\.?"
        ordinal = "|".join(map(re.escape, self._ordinals)) or r"(?!)"
        quarter = of.pattern("quarter").pattern
        joins = of.pattern("joins").pattern
        leads = of.pattern("within", "after", "since", "before", "until", "between", "joins").pattern
        self._forms = _compiled(
            _ISO,
            _SIGNS,
            *_QUARTERS,
            rf"(?P<nth>(?<!\w)(?:{ordinal}|[1-4]\.))\s*(?:{quarter}){_OF}(?:{_YEAR})?",
            rf"(?<![\d.,]){_FIRST}\s*(?:{joins}|[-–—])\s*{_DAY}{_OF}{month}(?:{_OF}{_YEAR})?",
            rf"(?<![\d.,]){_DAY}{_OF}{month}(?:{_OF}{_YEAR}(?!\d))?",
            rf"{month}\s+{_DAY}(?!\s*[,.]?\d)(?:\s*,?\s+{_YEAR}(?!\d))?",
            rf"{month}\s+{_DAY}\s*,?\s+{_YEAR}(?!\d)",
            rf"{month}{_OF}{_YEAR}(?!\d)",
            _SIGNS_ALONE,
        )
        alone = rf"(?:{month}|(?<![\w.,-]){_YEAR}(?![\d-]|[.,]\d|s\b))"
        self._alone = _compiled(
            rf"(?:{leads})(?:\s+(?!\d)\w{{1,4}}['’]?)?[\s-]*(?P<point>{alone})",
            rf"(?<![\w.,-])(?P<point>{_YEAR})(?=\s?[-–—]\s?(?:1[5-9]|20)\d\d(?!\d))",
            rf"(?<=\d[-–—])(?P<point>{_YEAR})(?!\d)",
            *([rf"(?P<point>{alone})(?={_follows(leads)})"] if of.postposed else []),
        )
        self._periods = [(n, _alternatives(forms)) for n, forms in enumerate(of.periods)]
        self._spans = [(n, _alternatives(forms)) for n, forms in enumerate(of.spans)]
        self._leads: dict[str, Callable[[str, int, int], bool]] = {
            field: _beside(of.pattern(*fields).pattern, is_postposed=of.postposed)
            for field, fields in {
                "from": ("after", "since"), "to": ("before", "until"), "beyond": ("after", "before"),
                "between": ("between", "since"),
            }.items()
        }  # fmt: skip
        self._leading = re.compile(rf"(?:{leads})\s*(?:(?!\d)\w{{1,4}}['’]?\s*)?$", re.IGNORECASE)
        self._joint = re.compile(
            rf"^(?:['’]\w+)?\s*,?\s*(?:{joins}|[-–—])\s*(?:(?!\d)\w{{1,4}}['’]?\s+)?$", re.IGNORECASE
        )

    def points(self, text: str, today: date, latest: date) -> Iterator[DateMention]:
        """Single dates, months, quarters, years and periods; a longer form before the shorter that it holds."""
        taken: list[tuple[int, int]] = []
        for span, start, stop in self._read(text, today, latest):
            if any(start < end and begin < stop for begin, end in taken):
                continue
            taken.append((start, stop))
            if span is not None:
                yield DateMention(*span, start, len(text[:stop].rstrip()))

    def _read(self, text: str, today: date, latest: date) -> Iterator[tuple[Span | None, int, int]]:
        """All that looks like a date, with its place; None for what may be read in two ways, of which no part is."""
        for match in _NUMERIC.finditer(text):
            day = self._numeric(match)
            yield (day, day + timedelta(days=1)) if day else None, *match.span()
        for form in (*self._forms, *self._alone):
            for match in form.finditer(text):
                if span := self._span(match.groupdict(), latest):
                    yield span, *match.span("point" if "point" in match.groupdict() else 0)
        for unit, form in self._spans:
            for match in form.finditer(text):
                count = int(next(filter(None, match.groups())))
                yield (_back(today, unit, count), today + timedelta(days=1)), *match.span()
        for place, form in self._periods:
            for match in form.finditer(text):
                yield _period(today, place), *match.span()

    def ranges(self, text: str, points: list[DateMention]) -> list[DateMention]:
        """Points with the words beside them: "between A and B", "after A", "before B", "after A and before B"."""
        out: list[DateMention] = []
        number = 0
        while number < len(points):
            point = points[number]
            following = points[number + 1] if number + 1 < len(points) else None
            number += 1
            place = (text, point.start, point.stop)
            if following is not None and self._is_range(text, point, following):
                out.append(msgspec.structs.replace(point, end=following.end, stop=following.stop))
                number += 1
                continue
            is_long = point.first and point.end and point.end - point.first > timedelta(days=1)
            if is_long and _DAYS.match(text[point.start : point.stop]):
                out.append(point)
                continue
            if is_long and self._leads["beyond"](*place):
                point = msgspec.structs.replace(point, first=point.end, end=point.first)
            if self._leads["from"](*place):
                point = msgspec.structs.replace(point, end=None)
            elif self._leads["to"](*place):
                opened = out[-1] if out else None
                if opened and opened.end is None and opened.first and point.end and opened.first < point.end:
                    between = text[opened.stop : point.start]
                    if len(between) <= _LEAD and len(between.split()) <= len(out) + 3:
                        out[-1] = DateMention(opened.first, point.end, opened.start, point.stop)
                        continue
                point = msgspec.structs.replace(point, first=None)
            out.append(point)
        return out

    def led(self, text: str, mention: DateMention) -> DateMention:
        """`mention` with the place of the words that lead to it."""
        lead = self._leading.search(text[: mention.start])
        return msgspec.structs.replace(mention, lead=lead.start() if lead else mention.start)

    def _is_range(self, text: str, point: DateMention, following: DateMention) -> bool:
        if not (point.first and following.end and point.first < following.end):
            return False
        between = text[point.stop : following.start]
        is_joined = self._joint.match(between) is not None
        return is_joined and (
            _DASH.fullmatch(between) is not None or self._leads["between"](text, point.start, following.stop)
        )

    def _span(self, found: dict[str, str | None], latest: date) -> Span | None:
        """First day and the day after the last; None where there is no such day."""
        year = int(found.get("year") or 0)
        day = found.get("day")
        quarter = found.get("quarter") or found.get("nth")
        name, number = found.get("month"), found.get("number")
        if quarter:
            months, span = self._nth(quarter), 3
            month = 3 * months - 2
        else:
            month = self._months[name.lower()] if name else int(number or 1)
            span = 1 if name or number else 12
        try:
            if not year:
                year = latest.year - (date(latest.year, month, int(day or 1)) > latest)
            if day is None:
                return date(year, month, 1), _months_on(date(year, month, 1), span)
            last = date(year, month, int(day))
            return date(year, month, int(found.get("first") or day)), last + timedelta(days=1)
        except ValueError:
            return None

    def _nth(self, quarter: str) -> int:
        return int(quarter.strip(".")) if quarter.strip(".").isdecimal() else self._ordinals[quarter.lower()]

    def _numeric(self, match: re.Match[str]) -> date | None:
        """The day of "5.3.2024"; None where day and month may change places, and for what is no date."""
        first, sign, second, third = match[1], match[2], match[3], match[4]
        if len(first) == 4:
            year, month, day = int(first), int(second), int(third)
        elif len(third) == 4 and len(first) < 3:
            day, month, year = int(first), int(second), int(third)
            if sign != "." and month != day and self._code == DEFAULT_LANGUAGE:
                if day <= 12 and month <= 12:
                    return None
                day, month = max(day, month), min(day, month)
        else:
            return None
        try:
            return date(year, month, day)
        except ValueError:
            return None


def _compiled(*forms: str) -> list[re.Pattern[str]]:
    return [re.compile(form, re.IGNORECASE) for form in forms]


def _alternatives(forms: str) -> re.Pattern[str]:
    """What finds one of phrases that are apart by "|"; ``{n}`` stands for a number, a group of its own."""
    parts: list[str] = []
    for form in sorted((form.strip() for form in forms.split("|")), key=len, reverse=True):
        part = re.escape(form).replace(r"\{n\}", r"(\d{1,3})").replace(r"\ ", r"\s+")
        parts.append(part if _is_unspaced(form) else rf"(?<!\w){part}(?!\w)")
    return re.compile("|".join(parts), re.IGNORECASE)


def _is_unspaced(text: str) -> bool:
    return re.search("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", text) is not None


def _follows(words: str) -> str:
    return rf"(?:['’]\w+)?\s*(?:{words})"


def _beside(words: str, *, is_postposed: bool) -> Callable[[str, int, int], bool]:
    """Whether one of `words` stands before a place in a text, or behind it, with one short word between at most."""
    lead = re.compile(rf"(?:{words})\s*(?:(?!\d)\w{{1,4}}['’]?\s*)?$", re.IGNORECASE)
    behind = re.compile(_follows(words), re.IGNORECASE)

    def stands(text: str, start: int, stop: int) -> bool:
        if lead.search(text[max(0, start - _LEAD) : start]):
            return True
        return is_postposed and behind.match(text[stop : stop + _LEAD]) is not None

    return stands


def _period(today: date, place: int) -> Span:
    """Today, yesterday, this and the last week, month, quarter and year, by their place in a language's file."""
    unit, back = divmod(place, 2)
    if unit == 0:
        first = today - timedelta(days=back)
        return first, first + timedelta(days=1)
    if unit == 1:
        first = today - timedelta(days=today.weekday() + 7 * back)
        return first, first + timedelta(days=7)
    length = _MONTHS_BACK[unit - 2]
    first = _months_on(date(today.year, (today.month - 1) // length * length + 1, 1), -length * back)
    return first, _months_on(first, length)


def _back(today: date, unit: int, count: int) -> date:
    """The day so many days, weeks, months or years before today."""
    if unit < 2:
        return today - timedelta(days=count * (7 if unit else 1))
    month = _months_on(today.replace(day=1), -count * (12 if unit == 3 else 1))
    return month + timedelta(days=min(today.day, 28) - 1)


def _months_on(first: date, months: int) -> date:
    total = first.year * 12 + first.month - 1 + months
    return date(total // 12, total % 12 + 1, first.day)
