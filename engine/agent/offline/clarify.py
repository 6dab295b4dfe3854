"""Asking back without a model: only where passages of one retrieval answer the question in different ways."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from engine.agent.offline.attributes import words_of
from engine.agent.offline.readings import (
    Held,
    Reading,
    held_against,
    is_unsettled,
    readings_by_attribute,
    readings_by_title,
    terms_in,
)
from engine.agent.steps import ClarificationDraft, Evidence, Plan, ReadingPassage
from engine.agent.workers import InThread
from engine.analysis.language import DEFAULT_LANGUAGE, Phrases, language
from engine.analysis.words import folded
from engine.model.search import Clarification
from engine.question.kinds import wanted
from engine.question.turn import Question

MAX_OPTIONS = 5
LONG_CONTEXT = 600
"""Characters of context from which no question is asked: who writes that much has said what is meant."""
MAX_TERMS = 10
"""Terms of content above which a question is taken to say what it means."""
MAX_OPTION = 120


class OfflineClarifier:
    """Asks when the evidence falls into groups that the question does not tell apart. Never without `multiturn`."""

    def __init__(self, run: InThread = asyncio.to_thread) -> None:
        self._run = run

    async def clarify(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
        if not question.request.multiturn or len(evidence) < 2:
            return None
        return await self._run(clarification, question, plan, evidence)


def clarification(question: Question, plan: Plan, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
    """The question back; None where what is asked is clear, covers several readings on purpose, or is not answered."""
    text = question.text
    code = question.terms.code
    is_across = language(code).pattern("across").search(text) is not None
    if len(question.request.context) > LONG_CONTEXT or is_across or len(plan.sub_questions) > 2:
        return None
    if any(_asks_for(name, text, code) for name in question.filterable):
        return None
    named: dict[str, set[object]] = {}
    for narrowing in (question.narrowing, *(query.narrowing for query in plan.queries)):
        for name, values in _named(narrowing):
            named.setdefault(name, set()).update(values)
    passages = [e.passage for e in evidence if _fits(e.passage, named)]
    # "How long": an answer gives the measure and does not repeat the word.
    is_measure = wanted(text, question.terms.code) == "amount"
    weights = {
        form: term.nats / term.share
        for term in question.terms.terms
        if term.share == 1 or not is_measure
        for form in term.forms
    }
    if not 1 <= len(weights) <= MAX_TERMS:
        return None
    held = held_against(weights, passages)
    said = terms_in(f"{text} {question.request.context}")
    found = [
        (name, readings)
        for name in question.filterable
        if name not in named and (readings := readings_by_attribute(name, held, frozenset(weights), said))
    ]
    if found:
        # What tells the best readings apart and leaves least unsettled; of those the attribute of the fewest values.
        best = sorted(held, key=lambda one: (-one.sentence, -one.coverage, -one.passage.score))[:2]
        name, readings = min(
            found,
            key=lambda held: (
                not _tells_apart(held[0], best), sum(is_unsettled(r, frozenset(weights)) for r in held[1]), len(held[1])
            ),
        )  # fmt: skip
        return _by_attribute(name, readings, _says(code))
    return _by_title(held, frozenset(weights), said, _says(code))


def _says(code: str) -> Phrases:
    says = language(code).says or language(DEFAULT_LANGUAGE).says
    if says is None:
        raise AssertionError("English has its words")
    return says


def _tells_apart(name: str, best: Sequence[Held]) -> bool:
    return len({str(one.passage.attributes.get(name)) for one in best}) > 1


def _asks_for(name: str, text: str, code: str) -> bool:
    """Whether values of the attribute are what is asked for: "which models …"."""
    words = "|".join(re.escape(part) for part in words_of(name) if len(part) > 2)
    asking = language(code).pattern("which", "listing").pattern
    return bool(words) and re.search(rf"(?:{asking})\s*(?:\w+\s+)?(?:{words})", text, re.IGNORECASE) is not None


def _by_attribute(name: str, readings: Sequence[Reading], says: Phrases) -> ClarificationDraft | None:
    narrowing: dict[str, Mapping[str, Any] | None] = {
        str(r.value): {name: r.value} for r in readings if 0 < len(str(r.value)) <= MAX_OPTION
    }
    return _draft(says.ask.format(name=" ".join(words_of(name))), narrowing)


def _by_title(
    held: Sequence[Held], asked_terms: frozenset[str], said: frozenset[str], says: Phrases
) -> ClarificationDraft | None:
    narrowing: dict[str, Mapping[str, Any] | None] = {}
    for reading in readings_by_title(held, asked_terms, said):
        ids = sorted({one.passage.passage.document_id for one in reading.held})
        # Several documents of one title may be parts of a whole of which not all came up: then the words must do.
        narrowing[str(reading.value)] = {"id": ids[0]} if len(ids) == 1 else None
    return _draft(says.ask_any, narrowing)


def _draft(asked_back: str, narrowing: Mapping[str, Mapping[str, Any] | None]) -> ClarificationDraft | None:
    options: dict[str, Mapping[str, Any] | None] = {}
    for option, settles in narrowing.items():
        if folded(option) not in {folded(known) for known in options}:
            options[option] = settles
    kept = dict(list(options.items())[:MAX_OPTIONS])
    if len(kept) < 2:
        return None
    return ClarificationDraft(Clarification(asked_back, tuple(kept)), kept)


def _fits(passage: ReadingPassage, named: Mapping[str, set[object]]) -> bool:
    """Whether a passage's document has a value that the question names, for each attribute of which it names some."""
    return all(passage.attributes.get(name, None) in values for name, values in named.items() if values)


def _named(narrowing: object) -> Iterator[tuple[str, list[object]]]:
    """Attributes that a filter names, each with the values that it asks for; none for a range."""
    if isinstance(narrowing, Mapping):
        for key, value in cast("Mapping[str, object]", narrowing).items():
            if key.startswith("$"):
                yield from _named(value)
            elif isinstance(value, Mapping):
                asked_for = cast("Mapping[str, object]", value)
                listed = asked_for.get("$in", [asked_for["$eq"]] if "$eq" in asked_for else [])
                yield key, list(cast("Sequence[object]", listed))
            else:
                yield key, [value]
    elif isinstance(narrowing, (list, tuple)):
        for part in cast("Sequence[object]", narrowing):
            yield from _named(part)
