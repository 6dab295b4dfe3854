"""Declared arithmetic: a figure that an answer computes from cited ones is recomputed before it may leave."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import NamedTuple

from engine.agent.answer.dates import dates
from engine.agent.answer.figures import KnownFigures, figures, readings_of, word_figures
from engine.agent.drafts import Computed

MAX_TERMS = 20
MAX_READINGS = 256
"""Ways to read the terms that are tried: ``1.234`` has two."""
_GENERAL = frozenset([2.0, 3.0, 4.0, 7.0, 10.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0, 1000.0])
_DECIMALS = re.compile(r"\d[.,](\d{1,2})(?!\d)")


def computed_values(declared: Iterable[Computed], known: KnownFigures) -> tuple[set[float], list[tuple[str, bool]]]:
    """The values that hold when recomputed, and why others do not, with whether that is sure.

    The terms must stand in the sources; months of a year and the like may come from general knowledge, which is not
    sure. A value may be rounded to the precision in which it is written.
    """
    values: set[float] = set()
    faults: list[tuple[str, bool]] = []
    for figure in declared:
        said = _amounts(figure.value)
        terms = [_amounts(term) for term in figure.of[:MAX_TERMS]]
        unknown = [place for place, term in enumerate(terms) if not _stands(figure.of[place], term, known)]
        general = [place for place in unknown if _is_general(figure, place, terms[place])]
        if not said or not terms or len(unknown) > len(general):
            strange = [figure.of[place] for place in unknown if place not in general]
            missing = f"{strange[0]} stands in none of its sources" if strange else "it names no figures"
            faults.append((f"{figure.value} is computed, but {missing}", True))
        elif not _agrees(figure, said, terms):
            faults.append((f"{figure.value} is not the {figure.kind} of {', '.join(figure.of)}", True))
        else:
            values |= {amount.value for amount in said}
            values |= {value for f in figures(figure.value) for value in f.plain}
            faults += [
                (f"{figure.value} is computed with {figure.of[place]}, which is not said", False) for place in general
            ]
    return values, faults


class _Amount(NamedTuple):
    """One reading of a figure, with what it counts."""

    value: float
    unit: tuple[str, float] | None = None


def _amounts(text: str) -> list[_Amount]:
    found = [_Amount(value, figure.unit) for figure in figures(text) for value in sorted(figure.readings)]
    found = found or [_Amount(value, figure.unit) for figure in word_figures(text) for value in figure.readings]
    return found or [_Amount(value) for value in sorted(readings_of(text.strip()))]


def _stands(term: str, amounts: Sequence[_Amount], known: KnownFigures) -> bool:
    return bool(amounts) and (any(known.has_value(amount.value) for amount in amounts) or bool(dates(term)))


def _is_general(figure: Computed, place: int, amounts: Sequence[_Amount]) -> bool:
    """Whether a term may be known without a source: what a figure is multiplied with or divided by."""
    return place > 0 and figure.kind in ("product", "ratio") and any(a.value in _GENERAL for a in amounts)


def _agrees(figure: Computed, said: Sequence[_Amount], terms: Sequence[Sequence[_Amount]]) -> bool:
    readings = islice(product(*terms), MAX_READINGS)
    return any(_holds(figure, value, reading) for reading in readings for value in said)


def _holds(figure: Computed, said: _Amount, terms: Sequence[_Amount]) -> bool:
    """Whether one reading of the terms gives one reading of the value; amounts of one kind are made comparable."""
    families = {amount.unit[0] if amount.unit else None for amount in (said, *terms)}
    factors = {amount.unit[1] for amount in (said, *terms) if amount.unit}
    is_mixed = len(families) == 1 and len(factors) > 1 and figure.kind in ("sum", "difference", "average")
    numbers = [_number(amount, figure.kind, is_mixed=is_mixed) for amount in terms]
    value = _number(said, "", is_mixed=is_mixed)
    result = _result(figure.kind, numbers)
    if not math.isfinite(result):
        return False
    scale = said.unit[1] if is_mixed and said.unit else 1.0
    return abs(abs(result) - abs(value)) <= max(_precision(figure.value) * scale, 1e-9 * abs(result))


def _number(amount: _Amount, kind: str, *, is_mixed: bool) -> float:
    if is_mixed and amount.unit:
        return amount.value * amount.unit[1]
    if kind == "product" and amount.unit and amount.unit[0] == "share":
        return amount.value * amount.unit[1] / 100
    return amount.value


def _result(kind: str, terms: Sequence[float]) -> float:
    match kind:
        case "sum":
            return sum(terms)
        case "difference":
            return abs(terms[0] - terms[1]) if len(terms) == 2 else math.nan
        case "product":
            return math.prod(terms)
        case "ratio":
            return terms[0] / terms[1] if len(terms) == 2 and terms[1] else math.nan
        case "percent":
            return 100 * terms[0] / terms[1] if len(terms) == 2 and terms[1] else math.nan
        case "change_percent":
            return 100 * (terms[1] - terms[0]) / terms[0] if len(terms) == 2 and terms[0] else math.nan
        case "average":
            return sum(terms) / len(terms)
        case _:
            return float(len(terms))


def _precision(written: str) -> float:
    """Half of the last digit written, so that a rounded result agrees; whole numbers round to ones."""
    decimals = _DECIMALS.search(written)
    scale = 1.0
    for figure in figures(written):
        plain, scaled = next(iter(figure.plain), 1.0), next(iter(figure.readings), 1.0)
        scale = scaled / plain if plain else 1.0
    return 0.5 * 10.0 ** -(len(decimals[1]) if decimals else 0) * scale
