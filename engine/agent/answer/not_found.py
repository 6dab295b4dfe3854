"""The honest "not found"."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.answer.cite import clean
from engine.agent.steps import PlannedQuery, Question

MAX_ABSENT = 4


def not_found(question: Question, executed: Sequence[PlannedQuery], scanned: int, *, absent: Sequence[str] = ()) -> str:
    """Says what was searched for and that the documents do not answer it.

    Args:
        absent: names of the question that stand in no document.
    """
    sought = clean(question.message or question.request.objective)
    sought = sought if len(sought) <= 300 else sought[:299] + "…"
    if scanned == 0:
        where = " that the filter leaves" if question.request.filters else ""
        return f"Not found: there are no documents{where} to answer “{sought}” from."
    queries = "1 query" if len(executed) == 1 else f"{len(executed)} queries"
    documents = "1 document" if scanned == 1 else f"{scanned:,} documents"
    said = f"Not found: {queries} brought up {documents}, but none of them answers “{sought}”."
    return f"{said} {names_absent(absent)}".strip()


def names_absent(absent: Sequence[str]) -> str:
    """A sentence about names that stand in no document; empty for none.

    >>> names_absent(["Orrin", "Pellam"])
    'No document names “Orrin” or “Pellam”.'
    """
    named = [f"“{name}”" for name in absent[:MAX_ABSENT]]
    if not named:
        return ""
    joined = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
    return f"No document names {joined}."


def withdrawn(question: Question) -> str:
    """Says that what answered is gone: the documents changed while the search ran."""
    sought = clean(question.message or question.request.objective)[:300]
    return f"The documents that answer “{sought}” were changed or deleted while the search ran; ask again."
