"""The answer without a model: sentences of the documents in the order of the sub-questions, each with its citation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from engine.agent.drafts import AnswerDraft, FindingDraft, SentenceDraft
from engine.agent.offline.contrast import relation
from engine.agent.offline.findings import Sentence, Spoken, label_of, labelled
from engine.agent.offline.readings import terms_in
from engine.agent.steps import Evidence, Judgement, Plan, Question
from engine.agent.workers import InThread
from engine.model.search import MAX_EXCERPTS, MAX_RESULTS
from engine.question.dates import dates_in
from engine.question.kinds import Kind, wanted
from engine.question.names import names_in
from engine.question.terms import asked_terms

SENTENCES = 6
PER_PART = 2
"""Sentences for one of several sub-questions."""
ALONE = 3
"""Sentences where the question has one part only."""
WORTH = 0.3
"""Share of the best document's relevance below which a document is no result."""
TELLS = 0.5
"""Share of the best sentence's score from which another one is said beside it."""
LEAST = 0.25
"""Share of what a part asks that a sentence must hold to be said for it, but for the first of the answer."""
SPOKEN = 0.7
"""Factor on a document that had its say on another part."""
_NO_VERDICT = "These sentences are taken from the documents as they stand; a yes or no is left to the reader."
_FURTHER = "Further documents are less close to the question."
_ANY_DAY = date(2000, 1, 1)
"""Only where dates stand matters here, not which days they mean."""
_ASIDE = {"same": "likewise", "other": "by contrast"}


class Contribution(msgspec.Struct, frozen=True):
    """One document that becomes a result.

    Attributes:
        spoken: the sentences of its excerpts to be.
        block_ids: those excerpts.
        excerpts: their text, for what a label may say.
    """

    document_id: str
    label: str
    spoken: Spoken
    block_ids: tuple[str, ...]
    excerpts: str


class OfflineSynthesizer:
    """Says nothing that does not stand in a document."""

    def __init__(self, run: InThread = asyncio.to_thread) -> None:
        self._run = run

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft:
        return await self._run(written, question, plan, evidence, judgement)


def written(question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement) -> AnswerDraft:
    """The draft; `evidence` is the most relevant first."""
    text = question.text
    kind = wanted(text, question.terms.code)
    weights = _weights(text, question)
    documents = contributions(question, text, evidence)
    answer = _Answer(question, documents, kind)
    parts = plan.sub_questions if len(plan.sub_questions) > 1 else ()
    # What is asked of a document by name says more than the question that only describes it.
    for part in plan.followed:
        answer.say(_weights(part, question), 1)
    for target in [_part_weights(part.text, question, weights) for part in parts] or [weights]:
        answer.say(target, PER_PART if parts else ALONE)
    if plan.shape in ("yes_no", "comparison"):
        dates = [(mention.start, mention.stop) for mention in dates_in(text, _ANY_DAY)]
        answer.say_of_each(names_in(text, dates), weights)
    sentences = answer.sentences
    # What the answer says first is the first result; what it does not say follows by relevance.
    order = list(dict.fromkeys([*(n for s in sentences for n in s.findings), *range(len(documents))]))
    documents = [documents[n] for n in order]
    place = {n: position for position, n in enumerate(order)}
    sentences = [msgspec.structs.replace(s, findings=tuple(place[n] for n in s.findings)) for s in sentences]
    findings = [_finding(document, weights, kind) for document in documents]
    rest = list(range(len({n for s in sentences for n in s.findings}), len(documents)))
    caveats = [f"Not covered by what was found: {'; '.join(judgement.missing)}."] if judgement.missing else []
    if plan.shape in ("yes_no", "comparison") and sentences:
        caveats.append(_NO_VERDICT)
    return AnswerDraft(tuple(findings), (*sentences, *_further(text, documents, rest)), tuple(caveats))


def contributions(question: Question, text: str, evidence: Sequence[Evidence]) -> list[Contribution]:
    """The documents that become results, most relevant first."""
    by_document: dict[str, list[Evidence]] = {}
    for held in evidence:
        by_document.setdefault(held.passage.passage.document_id, []).append(held)
    best = max((e.relevance for e in evidence), default=0.0)
    top = max((e.passage.score for e in evidence), default=0.0)
    found: list[Contribution] = []
    for document_id, held in by_document.items():
        if held[0].relevance < WORTH * best or len(found) == MAX_RESULTS:
            continue
        blocks = excerpt_blocks(held)
        if blocks:
            by_id = {block.id: block.text for e in held for block in e.passage.blocks}
            kept = set(blocks)
            said = [msgspec.structs.replace(e, block_ids=tuple(b for b in e.block_ids if b in kept)) for e in held]
            spoken = Spoken(said, top, question.terms.code)
            if spoken.is_silent:
                continue
            found.append(
                Contribution(
                    document_id,
                    label_of(held[0].passage, question, text),
                    spoken,
                    blocks,
                    " ".join(by_id[block_id] for block_id in blocks),
                )
            )
    return found


def excerpt_blocks(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Blocks of a document's passages, best passages first, as many as make `MAX_EXCERPTS` excerpts.

    Blocks that follow each other in one passage become one excerpt.
    """
    chosen: list[str] = []
    excerpts = 0
    for held in evidence:
        place = {block.id: number for number, block in enumerate(held.passage.blocks)}
        last = -2
        for block_id in sorted((b for b in held.block_ids if b in place), key=place.__getitem__):
            excerpts += place[block_id] != last + 1
            if excerpts > MAX_EXCERPTS:
                return tuple(chosen)
            last = place[block_id]
            chosen.append(block_id)
    return tuple(chosen)


def _finding(document: Contribution, weights: Mapping[str, float], kind: Kind | None) -> FindingDraft:
    sentence = document.spoken.towards(weights, kind)[0]
    return FindingDraft(
        labelled(document.label, sentence.text, document.excerpts), document.document_id, document.block_ids
    )


class _Answer:
    """Sentences as they come; none twice, and none from a document that had its say on a part.

    Args:
        kind: of answer that is asked for.
    """

    def __init__(self, question: Question, documents: Sequence[Contribution], kind: Kind | None) -> None:
        self.sentences: list[SentenceDraft] = []
        self._question = question
        self._documents = documents
        self._kind: Kind | None = kind
        self._told: list[tuple[Sentence, int]] = []

    def say(self, target: Mapping[str, float], room: int) -> None:
        """Up to `room` sentences for one part, best first."""
        best = 0.0
        told = 0
        for sentence, number in self._ranked(target):
            if told == room or len(self.sentences) == SENTENCES:
                break
            if sentence.score < TELLS * best or (self._told and sentence.share < LEAST):
                continue
            told += self._say(sentence, number)
            best = max(best, sentence.score)

    def say_of_each(self, names: Sequence[str], target: Mapping[str, float]) -> None:
        """A sentence of each thing that is set against another and that none of the sentences is about."""
        for name in names:
            terms = terms_in(name)
            held = [s.about | terms_in(self._documents[n].label) for s, n in self._told]
            if len(self.sentences) == SENTENCES or not terms or any(terms <= about for about in held):
                continue
            for sentence, number in self._ranked(target):
                about = sentence.about | terms_in(self._documents[number].label)
                if terms <= about and sentence.share >= LEAST:
                    self._say(sentence, number)
                    break

    def _ranked(self, target: Mapping[str, float]) -> list[tuple[Sentence, int]]:
        spoken = {number for _, number in self._told}
        best = ((d.spoken.towards(target, self._kind)[:1], n) for n, d in enumerate(self._documents))
        return sorted(
            ((s, n) for found, n in best for s in found),
            key=lambda held: (-held[0].score * (SPOKEN if held[1] in spoken else 1.0), held[1]),
        )

    def _say(self, sentence: Sentence, number: int) -> bool:
        """Whether it was said; what another document has said is cited beside it instead."""
        related = [
            (relation(before.text, sentence.text, self._question.rarity, self._question.terms.code), place)
            for place, (before, _) in enumerate(self._told)
        ]
        repeats = next((place for how, place in related if how == "repeated"), None)
        if repeats is not None:
            self._cite_beside(repeats, number)
            return False
        aside = ""
        if related and self._told[-1][1] != number:
            aside = _ASIDE.get(related[-1][0], "")
        document = self._documents[number]
        self.sentences.append(
            SentenceDraft(labelled(document.label, sentence.text, document.excerpts, aside), (number,))
        )
        self._told.append((sentence, number))
        return True

    def _cite_beside(self, place: int, number: int) -> None:
        """Cite another document for a sentence that was said; under one's label it would be that one's alone."""
        said, (sentence, first) = self.sentences[place], self._told[place]
        if number in said.findings:
            return
        text = said.text if self._documents[number].label == self._documents[first].label else sentence.text
        self.sentences[place] = SentenceDraft(text, (*said.findings, number))


def _weights(text: str, question: Question) -> dict[str, float]:
    """Term → how much it says."""
    asked_for = asked_terms(text, question.rarity, question.documents, question.languages)
    return {form: term.weight for term in asked_for.terms for form in term.forms}


def _part_weights(text: str, question: Question, weights: Mapping[str, float]) -> dict[str, float]:
    """Weights for one sub-question: its own terms, and a little of the whole question's."""
    return {term: 0.2 * weight for term, weight in weights.items()} | {
        term: min(weight, weights.get(term, weight)) for term, weight in _weights(text, question).items()
    }


def _further(text: str, documents: Sequence[Contribution], rest: Sequence[int]) -> list[SentenceDraft]:
    """The documents that no sentence cites, grouped by the value that the question names them by."""
    groups: dict[str, list[int]] = {}
    for number in rest:
        label = documents[number].label
        named = label and label in text and not any(c.isdigit() for c in label)
        groups.setdefault(label if named else "", []).append(number)
    return [
        SentenceDraft(f"More from {label}." if label else _FURTHER, tuple(ns))
        for label, ns in sorted(groups.items(), key=lambda held: (not held[0], held[1]))
    ]
