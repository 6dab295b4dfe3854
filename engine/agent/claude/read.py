"""The reader: passages in, block ids and relevance out. Batches in parallel on the cheap model, without tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from engine.agent.claude.evidence_lines import NumberedLines
from engine.agent.claude.question import question_block
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import Evidence, Plan, Reader, ReadingPassage
from engine.errors import ModelError
from engine.question.turn import Question

BATCH = 8
"""Passages a call."""
MAX_BLOCKS = 5
MIN_RELEVANCE = 3
_CONTEXT = 1_500

SPEC = StepSpec(step="read", fast=True, max_tokens=3_000, cap_s=15.0, keep_s=20.0)


class PassageReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one passage holds; all numbers as shown."""

    passage: int
    relevance: int
    sentences: tuple[int, ...]
    sub_questions: tuple[int, ...]


class ReadReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of a reading call."""

    passages: tuple[PassageReply, ...]


class ClaudeReader:
    """`Reader` on a model; a batch that the model cannot read is read by the twin."""

    def __init__(self, turn: ModelTurn, twin: Reader, max_batches: int) -> None:
        self._turn = turn
        self._twin = twin
        self._max_batches = max_batches

    async def read(self, question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]:
        batches = batches_of(passages, self._max_batches)
        outcomes = await asyncio.gather(*(self._read_batch(question, plan, batch) for batch in batches))

        evidence = [item for outcome in outcomes if not isinstance(outcome, Exception) for item in outcome]
        failed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        if failed:
            # Once for all batches: that they fail together is one failure of the model.
            self._turn.fell_back(SPEC.step, failed[0])
            unread = [
                passage
                for batch, outcome in zip(batches, outcomes, strict=True)
                if isinstance(outcome, Exception)
                for passage in batch
            ]
            evidence += await self._twin.read(question, plan, unread)
        return sorted(evidence, key=lambda item: (-item.relevance, -item.passage.score))

    async def _read_batch(
        self, question: Question, plan: Plan, batch: Sequence[ReadingPassage]
    ) -> list[Evidence] | ModelError | Skipped:
        fence = self._turn.fence
        lines = NumberedLines(fence)
        user = (
            question_block(question, fence, context=_CONTEXT, plan=plan),
            fence.around("Passages", lines.passage_lines(batch)),
            "Step: read",
        )
        try:
            reply = await self._turn.ask(SPEC, ReadReply, user)
        except (ModelError, Skipped) as error:
            return error
        return _checked(reply, batch, lines, len(plan.sub_questions))


def batches_of(passages: Sequence[ReadingPassage], most: int) -> list[list[ReadingPassage]]:
    """The best passages in at most `most` batches, those of a document together and in the order of its text."""
    best = sorted(passages, key=lambda passage: -passage.score)[: BATCH * most]
    rank: dict[str, int] = {}
    for passage in best:
        rank.setdefault(passage.passage.document_id, len(rank))
    placed = sorted(
        best, key=lambda p: (rank[p.passage.document_id], p.passage.attribute, p.passage.start, p.passage.label)
    )
    return [placed[start : start + BATCH] for start in range(0, len(placed), BATCH)]


def _checked(
    reply: ReadReply, batch: Sequence[ReadingPassage], lines: NumberedLines, sub_questions: int
) -> list[Evidence]:
    """Evidence of known passages and their own blocks and facts; the first entry of a passage counts."""
    evidence: dict[int, Evidence] = {}
    for entry in reply.passages:
        index = entry.passage - 1
        if not 0 <= index < len(batch) or index in evidence or entry.relevance < MIN_RELEVANCE:
            continue
        passage = batch[index]
        shown = [lines.by_number[n] for n in dict.fromkeys(entry.sentences) if n in lines.by_number]
        chosen = {block.id for _, block in shown}
        # A document's facts are shown once, with its first passage, and belong to each of them.
        facts = {block.attribute for document, block in shown if document == passage.passage.document_id}
        ids = [block.id for block in passage.blocks if block.id in chosen]
        ids += [fact.id for fact in passage.facts if fact.attribute in facts]
        if ids:
            evidence[index] = Evidence(
                passage=passage,
                block_ids=tuple(ids[:MAX_BLOCKS]),
                relevance=float(min(entry.relevance, 10)),
                sub_questions=tuple(sorted({n - 1 for n in entry.sub_questions if 1 <= n <= sub_questions})),
            )
    return list(evidence.values())
