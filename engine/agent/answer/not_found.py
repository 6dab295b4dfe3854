"""The honest "not found", in the language of the question where it has a file."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent.answer.cite import clean
from engine.agent.steps import PlannedQuery
from engine.analysis.language import DEFAULT_LANGUAGE, language
from engine.question.turn import Question

MAX_ABSENT = 4


def not_found(question: Question, executed: Sequence[PlannedQuery], scanned: int, *, absent: Sequence[str] = ()) -> str:
    """Says what was searched for and that the documents do not answer it.

    Args:
        absent: names of the question that stand in no document.
    """
    sought = clean(question.message or question.request.objective)
    sought = sought if len(sought) <= 300 else sought[:299] + "…"
    says = language(question.terms.code).says or language(DEFAULT_LANGUAGE).says
    if says is None:
        raise AssertionError("English has its words")
    if scanned == 0:
        if question.request.filters and says is language(DEFAULT_LANGUAGE).says:
            return f"Not found: there are no documents that the filter leaves to answer “{sought}” from."
        return says.nothing.format(sought=sought)
    queries = says.query if len(executed) == 1 else says.queries.format(n=len(executed))
    documents = says.document if scanned == 1 else says.documents.format(n=f"{scanned:,}")
    said = says.not_found.format(queries=queries, documents=documents, sought=sought)
    return f"{said} {names_absent(absent)}".strip() if says is language(DEFAULT_LANGUAGE).says else said


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
