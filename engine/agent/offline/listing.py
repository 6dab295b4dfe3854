"""Lists: "which tickets …" is answered by the titles, or the values, of the documents that fit, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from engine.agent.drafts import AnswerDraft, FindingDraft, SentenceDraft
from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import FORM, Table, begins_alike
from engine.agent.offline.attributes import answering_fact, words_of
from engine.agent.offline.constraints import Settled, day_of
from engine.agent.offline.wording import tidy, title_of
from engine.agent.steps import Block, Evidence
from engine.analysis.analyzer import query_terms
from engine.analysis.language import Phrases, language
from engine.model.search import MAX_RESULTS
from engine.question.kinds import wanted
from engine.question.shape import opens
from engine.question.terms import AskedTerm, without_content

UNHELD = 1
"""Words of the question that need not stand in a document that satisfies what it names: "release" in "which versions
did Ada release"."""


def listed(held: Settled) -> AnswerDraft | None:
    """A line for each document that satisfies what the question names; None where it asks for no list.

    Documents satisfy it by an attribute or a time, or have what is asked for in their titles: "which rucksacks".
    """
    question = held.rest
    code = question.terms.code
    if not _asks_for_several(question.text, code) or wanted(question.text, code) is not None:
        return None
    read = _Read(held)
    fits = np.ones(len(read.evidence), bool)
    if not held.fitting:
        kinds = read.kinds or read.subject
        fits = (read.table.header[:, kinds] >= FORM).any(axis=1) if kinds else np.zeros(len(fits), bool)
    lacking = read.lacking()
    fits &= lacking <= min(UNHELD if held.fitting else 0, int(lacking[fits].min(initial=len(read.subject))))
    chosen = [e for e, fit in zip(read.evidence, fits, strict=True) if fit]
    if not chosen or (not held.fitting and len(chosen) < 2):
        return None
    if any(constraint.is_date for constraint in held.constraints):
        chosen.sort(key=lambda e: str(day_of(list(e.passage.attributes.values()))), reverse=True)
    return _drafted(_lines(chosen, _asked_for(held, chosen)), language(code).says)


def told(held: Settled, likeness: Likeness | None = None) -> AnswerDraft | None:
    """The attribute of the documents that the question names by a value or an id, where it asks for nothing else.

    "Who released version 4.1.3?" is the author of the document whose version that is.
    """
    if any(constraint.is_date for constraint in held.constraints):
        return None
    if not held.fitting:
        named = _named(held)
        if len(named) != 1:
            return None
        held = msgspec.structs.replace(held, fitting=named)
    read = _Read(held)
    kind = wanted(held.rest.text, held.rest.terms.code)
    settled = {name for constraint in held.constraints for name in constraint.attributes}
    lines: list[tuple[str, Evidence, str]] = []
    for number, (found, lacking) in enumerate(zip(read.evidence, read.lacking(), strict=True)):
        fact = answering_fact(found.passage, read.table, number, kind, likeness, held.rest.text, settled)
        if lacking > UNHELD or fact is None:
            return None
        lines.append((f"{' '.join(fact.attribute.replace('_', ' ').split())}: {fact.text}", found, fact.id))
    if len(lines) == 1:
        text, found, block = lines[0]
        name = _name_of(held, found) or title_of(found.passage)
        text = f"{name}: {text}" if name else text
        document = found.passage.passage.document_id
        return AnswerDraft((FindingDraft(text, document, (block,)),), (SentenceDraft(tidy(text), (0,)),))
    return None


def _named(held: Settled) -> frozenset[str]:
    """Documents whose author, day or attribute is asked for by their title: "who wrote the mail about the lift"."""
    question, code = held.rest, held.rest.terms.code
    if _asks_for_several(question.text, code) and _asked_for(held, held.evidence):
        return frozenset(e.passage.passage.document_id for e in held.evidence if _is_titled(held, e))
    if valued := frozenset(e.passage.passage.document_id for e in held.evidence if _name_of(held, e)):
        return valued
    if wanted(question.text, code) not in ("person", "time") or not language(code).pattern("makes").search(
        question.text
    ):
        return frozenset()
    read = _Read(held)
    made = language(code).pattern("makes").finditer(question.text)
    making = {term for match in made for term in query_terms(match.group(), question.terms.languages)}
    subject = [n for n in read.subject if not read.table.asked.terms[n].forms & making]
    if not subject:
        return frozenset()
    header = read.table.header
    return frozenset(
        e.passage.passage.document_id
        for number, e in enumerate(read.evidence)
        if bool((header[number, subject] >= FORM).all())
    )


def _asks_for_several(text: str, code: str) -> bool:
    """Whether a question opens for things of a kind, "what bridges", and not for one thing: "what is the toll"."""
    listing = language(code).pattern("listing")
    found = listing.search(text)
    if found is None or not opens(text, listing):
        return False
    return language(code).pattern("yes_no").match(text, found.end() + 1) is None


def _is_titled(held: Settled, found: Evidence) -> bool:
    """Whether the whole title of a document stands in the question."""
    terms = held.rest.terms
    title = frozenset(query_terms(title_of(found.passage), terms.languages)) - without_content(terms.code)
    return bool(title) and title <= frozenset[str]().union(*(term.forms for term in terms.terms))


def _name_of(held: Settled, found: Evidence) -> str:
    """The value by which the question names a document, such as a row of a table, that it asks another value of."""
    terms = held.rest.terms
    said = frozenset[str]().union(*(term.forms for term in terms.terms))
    named = frozenset[str]().union(*(term.forms for term in terms.terms if term.is_named))
    facts = found.passage.facts
    if not any(said.intersection(query_terms(" ".join(words_of(fact.attribute)), terms.languages)) for fact in facts):
        return ""
    texts = [found.passage.passage.text, *(fact.text for fact in facts)]
    values = ((text, frozenset(query_terms(text, terms.languages))) for text in texts)
    return next((text for text, value in values if value and value <= said and value & named), "")


class _Read:
    """The fitting documents, one passage each, against what the question asks beside its constraints.

    Attributes:
        subject: columns of the terms that a document must hold; `kinds`, of what is asked for: "which **rucksacks**".
    """

    def __init__(self, held: Settled) -> None:
        question = held.rest
        every = _one_each(held.evidence)
        self.evidence = [e for e in every if not held.fitting or e.passage.passage.document_id in held.fitting]
        read = [e.passage for e in self.evidence]
        self.table = Table(question.terms, [p.passage for p in read], [p.attributes for p in read])
        names = {word for e in every for fact in e.passage.facts for word in words_of(fact.attribute)}
        papers = language(question.terms.code).pattern("papers")
        terms = self.table.asked.terms
        spoken = {t for m in papers.finditer(question.text) for t in query_terms(m.group(), question.terms.languages)}
        self.kinds = [n for n, term in enumerate(terms) if term.share < 1]
        self.subject = [
            n
            for n, term in enumerate(terms)
            if n not in self.kinds and not _is_alike(term, names) and not term.forms & spoken
        ]

    def lacking(self) -> npt.NDArray[np.int64]:
        """How many words of the subject each document lacks."""
        return (self.table.wholes[:, self.subject] < FORM).sum(axis=1)


def _drafted(lines: Sequence[tuple[str, Evidence, str]], says: Phrases | None) -> AnswerDraft:
    """A sentence for each text, and how many more there are."""
    findings = tuple(FindingDraft(text, e.passage.passage.document_id, (block,)) for text, e, block in lines)
    by_text: dict[str, list[int]] = {}
    for number, (text, _, _) in enumerate(lines[:MAX_RESULTS]):
        by_text.setdefault(text, []).append(number)
    sentences = tuple(SentenceDraft(text, tuple(numbers), is_line=True) for text, numbers in by_text.items())
    more = len({text for text, _, _ in lines} - by_text.keys())
    return AnswerDraft(findings[:MAX_RESULTS], sentences, (says.others.format(n=more),) if more and says else ())


def _one_each(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The best passage of each document."""
    first: dict[str, Evidence] = {}
    for found in evidence:
        first.setdefault(found.passage.passage.document_id, found)
    return list(first.values())


def _is_alike(term: AskedTerm, names: set[str]) -> bool:
    """Whether a word of the question is what an attribute is called, in any form: "released" and ``release_date``."""
    return any(begins_alike(form, name) for form in term.forms for name in names if len(name) > 3)


def _asked_for(held: Settled, chosen: Sequence[Evidence]) -> str:
    """The attribute whose values are asked for, "which versions"; empty where the documents are."""
    code = held.rest.terms.code
    kind = re.search(rf"(?:{language(code).pattern('listing').pattern})\s*(\w+)", held.rest.text, re.IGNORECASE)
    if kind is None:
        return ""
    asked = query_terms(kind[1], held.rest.terms.languages)
    names = dict.fromkeys(fact.attribute for e in chosen for fact in e.passage.facts)
    settled = {name for constraint in held.constraints for name in constraint.attributes}
    for name in names:
        words = [term for word in words_of(name) for term in query_terms(word, held.rest.terms.languages)]
        if name not in settled and any(word in asked for word in words):
            return name
    return ""


def _lines(chosen: Sequence[Evidence], attribute: str) -> list[tuple[str, Evidence, str]]:
    """What is said of each document, with the block that it stands in."""
    lines: list[tuple[str, Evidence, str]] = []
    for found in chosen:
        passage = found.passage
        fact = next((fact for fact in passage.facts if attribute and fact.attribute == attribute), None)
        title = title_of(passage)
        fact = fact or next((fact for fact in passage.facts if title and fact.text.strip() == title), None)
        block: Block | None = fact or next(iter(passage.blocks), None)
        if block is not None:
            lines.append((title if fact is None and title else " ".join(block.text.split()), found, block.id))
    return lines
