"""The honest "not found"."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.answer.cite import clean
from engine.agent.steps import PlannedQuery, Question


def not_found(question: Question, executed: Sequence[PlannedQuery], scanned: int) -> str:
    """Says what was searched for and that the documents do not answer it."""
    sought = clean(question.message or question.request.objective)
    sought = sought if len(sought) <= 300 else sought[:299] + "…"
    if scanned == 0:
        where = " that the filter leaves" if question.request.filters else ""
        return f"Not found: there are no documents{where} to answer “{sought}” from."
    queries = "1 query" if len(executed) == 1 else f"{len(executed)} queries"
    documents = "1 document" if scanned == 1 else f"{scanned:,} documents"
    return f"Not found: {queries} brought up {documents}, but none of them answers “{sought}”."
