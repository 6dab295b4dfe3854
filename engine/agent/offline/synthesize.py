"""The answer without a model: sentences of the documents in the order of the sub-questions, each with its citation."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.agent.offline.contrast import relation
from engine.agent.offline.coverage import SOFT, kinds_of_answer, terms_in, weights_of
from engine.agent.offline.findings import Sentence, label_of, labelled, sentences_of, wanted
from engine.agent.offline.followup import asked
from engine.agent.steps import AnswerDraft, Evidence, FindingDraft, Judgement, Plan, Question, SentenceDraft
from engine.model.search import MAX_EXCERPTS, MAX_RESULTS

SENTENCES = 6
PER_PART = 2
"""Sentences for one of several sub-questions."""
ALONE = 3
"""Sentences where the question has one part only."""
WORTH = 0.3
"""Share of the best document's relevance below which a document is no result."""
_NO_VERDICT = "These sentences are taken from the documents as they stand; a yes or no is left to the reader."


class Contribution(msgspec.Struct, frozen=True):
    """One document that becomes a result.

    Attributes:
        evidence: of its passages, best first.
        block_ids: its excerpts to be.
        excerpts: their text, for what a label may say.
    """

    document_id: str
    label: str
    evidence: tuple[Evidence, ...]
    block_ids: tuple[str, ...]
    excerpts: str


class OfflineSynthesizer:
    """Says nothing that does not stand in a document."""

    async def synthesize(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement
    ) -> AnswerDraft:
        return await asyncio.to_thread(written, question, plan, evidence, judgement)


def written(question: Question, plan: Plan, evidence: Sequence[Evidence], judgement: Judgement) -> AnswerDraft:
    """The draft; `evidence` is the most relevant first."""
    text = asked(question)
    soft = kinds_of_answer(text)
    held = [terms_in(e.passage.passage.text) for e in evidence]
    weights = {
        term: weight * (SOFT if term in soft else 1.0)
        for term, weight in weights_of(text, question.rarity, held).items()
    }
    documents = contributions(question, text, evidence)
    sentences = _answer(question, plan, documents, weights, wanted(text))
    # What the answer says first is the first result; what it does not say follows by relevance.
    order = list(dict.fromkeys([*(n for s in sentences for n in s.findings), *range(len(documents))]))
    documents = [documents[n] for n in order]
    place = {n: position for position, n in enumerate(order)}
    sentences = [msgspec.structs.replace(s, findings=tuple(place[n] for n in s.findings)) for s in sentences]
    findings = [_finding(document, weights, wanted(text)) for document in documents]
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
    found: list[Contribution] = []
    for document_id, held in by_document.items():
        if held[0].relevance < WORTH * best or len(found) == MAX_RESULTS:
            continue
        blocks = excerpt_blocks(held)
        if blocks:
            by_id = {block.id: block.text for e in held for block in e.passage.blocks}
            found.append(
                Contribution(
                    document_id,
                    label_of(held[0].passage, question, text),
                    tuple(held),
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


def _finding(document: Contribution, weights: Mapping[str, float], shows: re.Pattern[str] | None) -> FindingDraft:
    sentence = _sentences(document, weights, shows)[0]
    return FindingDraft(
        labelled(document.label, sentence.text, document.excerpts), document.document_id, document.block_ids
    )


def _sentences(document: Contribution, weights: Mapping[str, float], shows: re.Pattern[str] | None) -> list[Sentence]:
    chosen = set(document.block_ids)
    return [s for s in sentences_of(document.evidence, weights, shows) if s.block_id in chosen]


def _answer(
    question: Question,
    plan: Plan,
    documents: Sequence[Contribution],
    weights: Mapping[str, float],
    shows: re.Pattern[str] | None,
) -> list[SentenceDraft]:
    """Sentences in the order of the sub-questions; none twice, and none from a document that had its say on a part."""
    parts = plan.sub_questions if len(plan.sub_questions) > 1 else ()
    targets = [_part_weights(part.text, question, weights) for part in parts] or [dict(weights)]
    room = PER_PART if parts else ALONE
    out: list[SentenceDraft] = []
    said: set[str] = set()
    spoken: set[int] = set()
    for target in targets:
        ranked = sorted(
            ((s, n) for n, document in enumerate(documents) for s in _sentences(document, target, shows)[:1]),
            key=lambda held: (-held[0].score * (0.7 if held[1] in spoken else 1.0), held[1]),
        )
        told: list[Sentence] = []
        for sentence, number in ranked:
            if len(told) == room or len(out) == SENTENCES:
                break
            if sentence.text.casefold() in said or (told and sentence.score < 0.5 * told[0].score):
                continue
            out.append(SentenceDraft(_told(sentence, documents[number], told, question.rarity), (number,)))
            said.add(sentence.text.casefold())
            spoken.add(number)
            told.append(sentence)
    return out


def _part_weights(text: str, question: Question, weights: Mapping[str, float]) -> dict[str, float]:
    """Weights for one sub-question: its own terms, and a little of the whole question's."""
    own = weights_of(text, question.rarity, ())
    return {term: 0.2 * weight for term, weight in weights.items()} | {
        term: min(weight, weights.get(term, weight)) for term, weight in own.items()
    }


def _told(sentence: Sentence, document: Contribution, before: Sequence[Sentence], rarity: Mapping[str, float]) -> str:
    text = labelled(document.label, sentence.text, document.excerpts)
    if not before or before[-1].document_id == sentence.document_id:
        return text
    match relation(before[-1].text, sentence.text, rarity):
        case "same":
            return f"Likewise, {text}"
        case "other":
            return f"By contrast, {text}"
        case _:
            return text


def _further(text: str, documents: Sequence[Contribution], rest: Sequence[int]) -> list[SentenceDraft]:
    """The documents that no sentence cites, grouped by the value that the question names them by."""
    groups: dict[str, list[int]] = {}
    for number in rest:
        label = documents[number].label
        named = label and label in text and not any(c.isdigit() for c in label)
        groups.setdefault(label if named else "", []).append(number)
    return [
        SentenceDraft(f"More from {label}." if label else "Other documents bear on this too.", tuple(numbers))
        for label, numbers in sorted(groups.items(), key=lambda held: (not held[0], held[1]))
    ]
