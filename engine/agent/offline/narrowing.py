"""Mentions and dates as filter JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, cast

from engine.agent.offline.mentions import Mention
from engine.agent.steps import AttributeValues, Corpus
from engine.model.schema import AttributeType
from engine.question.dates import DateMention

_ISO = re.compile(r"\d{4}-\d\d(-\d\d)?(?:[T ].*)?")
_SAMPLE = 50
_MAX_DATE_ATTRIBUTES = 3
Filter = Mapping[str, Any]


class DateAttributes:
    """The attributes of a namespace that hold dates: by type, or because all their texts look like ISO dates.

    Attributes:
        latest: the latest date known of any of them; None without one.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._kinds: dict[str, str] = {}
        self.latest: date | None = None
        known = {held.attribute: held for held in corpus.values}
        for name in corpus.schema.filterable():
            attribute = corpus.schema.attributes.get(name)
            if attribute is None:
                continue
            kind = attribute.type.element
            held = known.get(name)
            if kind is AttributeType.DATETIME:
                self._kinds[name] = "datetime"
            elif held is not None and kind is AttributeType.STRING and _looks_iso(held):
                self._kinds[name] = "month" if len(str(held.values[0][0])) == len("2023-10") else "text"
            elif held is not None and kind in (AttributeType.INT, AttributeType.UINT) and _looks_year(held):
                self._kinds[name] = "year"
            if held is not None and (latest := _latest(held, self._kinds.get(name))) is not None:
                self.latest = max(latest, self.latest or latest)

    def narrowing(self, mention: DateMention, text: str) -> Filter | None:
        """Filter JSON for a date or range; None where no attribute holds dates.

        Args:
            text: the question; an attribute whose name it speaks of is preferred ("published on" and ``published_at``).
        """
        chosen = self._chosen(text)
        conditions = [{name: _range(kind, mention)} for name, kind in chosen]
        if not conditions:
            return None
        return conditions[0] if len(conditions) == 1 else {"$or": conditions}

    def _chosen(self, text: str) -> list[tuple[str, str]]:
        plain = text.casefold()
        exact = [(n, k) for n, k in self._kinds.items() if k == "datetime"]
        day = [(n, k) for n, k in self._kinds.items() if k == "text"]
        coarse = [(n, k) for n, k in self._kinds.items() if k in ("month", "year")]
        pool = exact or day or coarse
        cued = [
            (name, kind)
            for name, kind in pool
            if any(len(word) > 3 and word in plain for word in re.split(r"[\W_]+|at$|date$", name.casefold()))
        ]
        return (cued or pool)[:_MAX_DATE_ATTRIBUTES]


def narrowing_of(mentions: Sequence[Mention]) -> Filter | None:
    """Filter JSON that holds where each named attribute has one of its named values."""
    by_attribute: dict[str, list[Any]] = {}
    for mention in mentions:
        held = by_attribute.setdefault(mention.attribute, [])
        held += [value for value in mention.values if value not in held]
    return joined([{name: values[0] if len(values) == 1 else {"$in": values}} for name, values in by_attribute.items()])


def joined(filters: Sequence[Filter | None]) -> Filter | None:
    """All of `filters` at once; None for none."""
    kept = [part for part in filters if part]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else {"$and": kept}


def either(filters: Sequence[Filter]) -> Filter | None:
    """One of `filters` at least; values of one attribute as a list. None for none."""
    by_attribute: dict[str, list[Any]] = {}
    for part in filters:
        for name, value in part.items():
            by_attribute.setdefault(name, []).append(value)
    if len(filters) > 1 and not any(name.startswith("$") for name in by_attribute):
        kept: list[Filter] = [
            {name: values[0] if len(values) == 1 else {"$in": values}} for name, values in by_attribute.items()
        ]
    else:
        kept = list(filters)
    return None if not kept else kept[0] if len(kept) == 1 else {"$or": kept}


def alternatives(narrowing: object) -> list[Filter]:
    """The single conditions that a filter made here asks for; those of a list of values each by itself."""
    found: list[Filter] = []
    if not isinstance(narrowing, Mapping):
        return found
    for name, value in cast("Mapping[str, Any]", narrowing).items():
        if name == "$and":
            found += [condition for part in value for condition in alternatives(part)]
        elif isinstance(value, Mapping) and "$in" in value:
            found += [{name: one} for one in cast("Mapping[str, Any]", value)["$in"]]
        else:
            found.append({name: value})
    return found


def _range(kind: str, mention: DateMention) -> Filter:
    first, end = mention.first, mention.end
    if kind == "year":
        bounds = {"$gte": first and first.year, "$lte": end and (end.year - (end == date(end.year, 1, 1)))}
    elif kind == "month":
        bounds = {"$gte": first and first.strftime("%Y-%m"), "$lt": end and _next_month(end)}
    else:
        bounds = {"$gte": first and first.isoformat(), "$lt": end and end.isoformat()}
    return {operator: bound for operator, bound in bounds.items() if bound is not None}


def _next_month(end: date) -> str:
    """The month that a range ending before `end` does not reach into."""
    if end.day == 1:
        return end.strftime("%Y-%m")
    return date(end.year + end.month // 12, end.month % 12 + 1, 1).strftime("%Y-%m")


def _looks_iso(held: AttributeValues) -> bool:
    return bool(held.values) and all(
        isinstance(value, str) and _ISO.fullmatch(value) for value, _ in held.values[:_SAMPLE]
    )


def _looks_year(held: AttributeValues) -> bool:
    return bool(held.values) and all(
        isinstance(value, int) and 1400 <= value <= 2200 for value, _ in held.values[:_SAMPLE]
    )


def _latest(held: AttributeValues, kind: str | None) -> date | None:
    values = [value for value, _ in held.values]
    match kind:
        case "datetime":
            moments = [value for value in (held.most, *values) if isinstance(value, int)]
            return datetime.fromtimestamp(max(moments) / 1e6, UTC).date() if moments else None
        case "text":
            return date.fromisoformat(max(map(str, values))[:10])
        case "year":
            return date(max(value for value in values if isinstance(value, int)), 12, 31)
        case _:
            return None
