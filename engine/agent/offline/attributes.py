"""Which attribute of a document answers a question: "who wrote the mail", "what does it cost", "which colour"."""

from __future__ import annotations

import re
from collections.abc import Collection

from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import Table, begins_alike
from engine.agent.steps import Block, ReadingPassage
from engine.analysis.analyzer import query_terms
from engine.analysis.language import language, neutral
from engine.question.kinds import Kind

NAMED = 0.5
"""Likeness from which a word of the question stands for an attribute's name."""
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_./:-]+")


def answering_fact(
    passage: ReadingPassage,
    table: Table,
    number: int,
    kind: Kind | None,
    likeness: Likeness | None,
    asked_now: str,
    skip: Collection[str] = (),
) -> Block | None:
    """The attribute value that answers; None where the text may, or no attribute is asked for.

    An attribute is asked for by its name, in any form or a word of like meaning; or, where the
    question is who made the document or when, by the kind of answer: in "who wrote the mail" the mail does not say it.

    Args:
        number: of the passage in the table.
        asked_now: the latest message; what only earlier ones asked is not asked of an attribute.
        skip: attributes that the question names a value of.
    """
    held = table.own[table.rows(number)].max(axis=0, initial=0.0)
    now = frozenset(query_terms(asked_now, table.asked.languages))
    # A name that stands nowhere is what is missing, and no attribute: the sender of another's mail answers nothing.
    named = [n for n, term in enumerate(table.asked.terms) if term.is_named]
    is_known = not named or bool((table.wholes[number][named] > 0).any())
    lacking = [
        term
        for term, credit in zip(table.asked.terms, held, strict=True)
        if credit < 1 and (is_known or not term.is_named) and term.forms & now
    ]
    sought = frozenset(form for term in lacking for form in term.forms)
    known = frozenset(form for term in table.asked.terms for form in term.forms)
    usual = {"person": neutral().person_facts, "time": neutral().time_facts}.get(kind or "", "").split()
    if not language(table.asked.code).pattern("makes").search(asked_now):
        usual = []
    best: tuple[float, Block | None] = (0.0, None)
    for fact in passage.facts:
        value = frozenset(query_terms(fact.text, table.asked.languages))
        if not fact.attribute or fact.attribute in skip or not value or value <= known or not lacking:
            continue
        words = words_of(fact.attribute)
        terms = frozenset(term for word in words for term in query_terms(word, table.asked.languages))
        strength = 1.0 if terms & sought else 0.0
        if not strength and any(len(a) > 3 and begins_alike(a, b) for a in sought for b in terms):
            strength = 0.9
        if not strength and likeness is not None:
            near = likeness.credits([term.word for term in lacking], words)
            strength = max((float(row.max()) for row in near.values()), default=0.0)
            strength = strength if strength >= NAMED else 0.0
        if any(word in usual for word in words):
            # "Who released it?" is no date, whatever that is called.
            strength += 2.0
        if strength > best[0]:
            best = (strength, fact)
    return best[1]


def words_of(attribute: str) -> list[str]:
    """The words of an attribute's name, lower case: ``publishedAt`` and ``published_at`` are two."""
    return [word.lower() for word in _PARTS.split(attribute) if len(word) > 1]
