"""What a planner is told of a namespace: attributes, values with counts, ranges. Never document text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from engine.agent.claude.fence import Fence
from engine.agent.steps import AttributeValues, Corpus
from engine.model.document import JsonValue
from engine.model.schema import AttributeType

VALUES_SHOWN = 30
ATTRIBUTES_SHOWN = 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VALUE = 80


def corpus_lines(corpus: Corpus, fence: Fence) -> Iterator[str]:
    """One line an attribute that a condition may name."""
    yield f"The collection has {corpus.documents} documents. Attributes that conditions may name:"
    known = {values.attribute: values for values in corpus.values}
    names = corpus.schema.filterable()
    for name in names[:ATTRIBUTES_SHOWN]:
        kind = corpus.schema.attributes[name].type
        held = known.get(name)
        about = [part for part in (_range(held, kind), _values(held, kind, fence)) if part] if held else []
        yield f"{fence.line(name, 128)} ({kind.value})" + (f": {'; '.join(about)}" if about else "")
    if len(names) > ATTRIBUTES_SHOWN:
        yield f"+{len(names) - ATTRIBUTES_SHOWN} more attributes"


def shown_value(value: JsonValue, kind: AttributeType) -> str:
    """A value as a condition would write it: dates in ISO 8601, not in the microseconds that are stored.

    >>> shown_value(1_709_251_200_000_000, AttributeType.DATETIME)
    '2024-03-01'
    """
    if kind.element is AttributeType.DATETIME and isinstance(value, int):
        moment = _EPOCH + timedelta(microseconds=value)
        text = moment.isoformat().replace("+00:00", "Z")
        return text.removesuffix("T00:00:00Z")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _range(held: AttributeValues, kind: AttributeType) -> str:
    if held.least is None or held.most is None:
        return ""
    return f"{shown_value(held.least, kind)} to {shown_value(held.most, kind)}"


def _values(held: AttributeValues, kind: AttributeType, fence: Fence) -> str:
    shown = [
        f'"{fence.line(shown_value(value, kind), _VALUE)}" ({count})' for value, count in held.values[:VALUES_SHOWN]
    ]
    if len(held.values) > VALUES_SHOWN:
        shown.append(f"+{len(held.values) - VALUES_SHOWN} more")
    return ", ".join(shown)
