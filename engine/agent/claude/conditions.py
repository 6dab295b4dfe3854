"""A planner's conditions → filter JSON that can only narrow.

Structured output has no open objects, so a model gives attribute, operator and values apart; what does not fit the
schema is dropped here, never handed on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from engine.agent.claude.fence import one_line
from engine.agent.steps import Corpus
from engine.errors import FilterError
from engine.filters.check import parse_filter
from engine.model.schema import AttributeType

MAX_CONDITIONS = 4
MAX_VALUES = 20
_SHOWN = 60
_SHOWN_VALUES = 4

_OPERATORS = {"any_of": "$in", "none_of": "$not_in", "at_least": "$gte", "at_most": "$lte"}
_TRUTH = {"true": True, "false": False, "yes": True, "no": False}


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One restriction as a model writes it; values are text, whatever the type of the attribute."""

    attribute: str
    operator: Literal["any_of", "none_of", "at_least", "at_most"]
    values: tuple[str, ...]


def to_narrowing(conditions: Sequence[Condition], corpus: Corpus) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
    """Filter JSON that holds where all usable conditions hold, None when there is none; and what was dropped, readable.

    A condition is dropped when its attribute is not filterable, a value is not of the attribute's type, or the filter
    language refuses it. Text is matched to known values without regard to case. An equal condition counts once.
    """
    filters: list[dict[str, Any]] = []
    dropped: list[str] = []
    for condition in conditions:
        narrowing = _one(condition, corpus)
        if narrowing is None or not _is_accepted(narrowing, corpus):
            dropped.append(_told(condition))
        elif narrowing not in filters:
            filters.append(narrowing)
    match filters[:MAX_CONDITIONS]:
        case []:
            return None, tuple(dropped)
        case [single]:
            return single, tuple(dropped)
        case several:
            return {"$and": several}, tuple(dropped)


def _is_accepted(narrowing: Mapping[str, Any], corpus: Corpus) -> bool:
    try:
        parse_filter(narrowing, corpus.schema)
    except FilterError:
        return False
    return True


def _told(condition: Condition) -> str:
    values = ", ".join(one_line(value)[:_SHOWN] for value in condition.values[:_SHOWN_VALUES])
    return f"{one_line(condition.attribute)[:_SHOWN]} {condition.operator.replace('_', ' ')} {values}"


def _one(condition: Condition, corpus: Corpus) -> dict[str, Any] | None:
    attribute = condition.attribute
    if attribute not in corpus.schema.filterable() or not condition.values:
        return None
    kind = corpus.schema.attributes[attribute].type.element
    known = {
        value.casefold(): value
        for values in corpus.values
        if values.attribute == attribute
        for value, _ in values.values
        if isinstance(value, str)
    }
    try:
        operands = [_operand(value.strip(), kind, known) for value in condition.values[:MAX_VALUES]]
    except ValueError:
        return None
    if condition.operator in ("at_least", "at_most"):
        return {attribute: {_OPERATORS[condition.operator]: operands[0]}} if len(operands) == 1 else None
    return {attribute: {_OPERATORS[condition.operator]: operands}}


def _operand(value: str, kind: AttributeType, known: Mapping[str, str]) -> str | int | float | bool:
    match kind:
        case AttributeType.INT | AttributeType.UINT:
            return int(value)
        case AttributeType.FLOAT:
            number = float(value)
            if not math.isfinite(number):
                raise ValueError(value)
            return number
        case AttributeType.BOOL:
            if value.casefold() not in _TRUTH:
                raise ValueError(value)
            return _TRUTH[value.casefold()]
        case AttributeType.STRING:
            return known.get(value.casefold(), value)
        case _:
            return value
