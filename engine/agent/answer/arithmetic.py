"""Declared arithmetic: a figure that an answer computes from cited ones is recomputed before it may leave."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from engine.agent.answer.dates import dates
from engine.agent.answer.figures import KnownFigures, figures, number_words, readings_of
from engine.agent.drafts import Computed

MAX_TERMS = 20
_DECIMALS = re.compile(r"\d[.,](\d{1,2})(?!\d)")


def computed_values(declared: Iterable[Computed], known: KnownFigures) -> tuple[set[float], list[str]]:
    """The values that hold when recomputed from terms that stand in the sources, and why the others do not.

    A value may be rounded to the precision in which it is written.
    """
    values: set[float] = set()
    faults: list[str] = []
    for figure in declared:
        said = _amounts(figure.value)
        terms = [_amounts(term) for term in figure.of[:MAX_TERMS]]
        unknown = [term for term, amounts in zip(figure.of, terms, strict=False) if not _stands(term, amounts, known)]
        if not said or not terms or unknown:
            missing = f"{unknown[0]} stands in none of its sources" if unknown else "it names no figures"
            faults.append(f"{figure.value} is computed, but {missing}")
        elif not any(_agrees(value, figure, [next(iter(t)) for t in terms]) for value in said):
            faults.append(f"{figure.value} is not the {figure.kind} of {', '.join(figure.of)}")
        else:
            values |= said
            values |= {value for f in figures(figure.value) for value in f.plain}
    return values, faults


def _amounts(text: str) -> set[float]:
    amounts = {value for figure in figures(text) for value in figure.readings}
    return amounts or {value for _, value in number_words(text)} or set(readings_of(text.strip()))


def _stands(term: str, amounts: set[float], known: KnownFigures) -> bool:
    return bool(amounts) and (any(known.has_value(value) for value in amounts) or bool(dates(term)))


def _agrees(value: float, figure: Computed, terms: Sequence[float]) -> bool:
    match figure.kind:
        case "sum":
            result = sum(terms)
        case "difference":
            result = abs(terms[0] - terms[1]) if len(terms) == 2 else math.nan
        case "product":
            result = math.prod(terms)
        case "ratio":
            result = terms[0] / terms[1] if len(terms) == 2 and terms[1] else math.nan
        case "percent":
            result = 100 * terms[0] / terms[1] if len(terms) == 2 and terms[1] else math.nan
        case "change_percent":
            result = 100 * (terms[1] - terms[0]) / terms[0] if len(terms) == 2 and terms[0] else math.nan
        case "average":
            result = sum(terms) / len(terms)
        case "count":
            result = float(len(terms))
    if not math.isfinite(result):
        return False
    return abs(abs(result) - abs(value)) <= max(_precision(figure.value), 1e-9 * abs(result))


def _precision(written: str) -> float:
    """Half of the last digit written, so that a rounded result agrees; whole numbers round to ones."""
    decimals = _DECIMALS.search(written)
    scale = 1.0
    for figure in figures(written):
        plain, scaled = next(iter(figure.plain), 1.0), next(iter(figure.readings), 1.0)
        scale = scaled / plain if plain else 1.0
    return 0.5 * 10.0 ** -(len(decimals[1]) if decimals else 0) * scale
