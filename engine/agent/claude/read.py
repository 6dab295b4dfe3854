"""The reader: passages in, block ids and relevance out. Batches in parallel on the cheap model, without tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from engine.agent.claude.question import NumberedBlocks, question_lines, sub_question_lines
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import Evidence, Plan, Question, Reader, ReadingPassage
from engine.errors import ModelError

BATCH = 8
"""Passages a call."""
MAX_BATCH = 12
"""Passages a call when there would be more batches than a round may have."""
MAX_BLOCKS = 5
MIN_RELEVANCE = 3
_CONTEXT = 1_500

SPEC = StepSpec(step="read", prompt="read", fast=True, max_tokens=3_000, cap_s=15.0, keep_s=20.0)


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
        size = min(MAX_BATCH, max(BATCH, -(-len(passages) // self._max_batches)))
        best = sorted(passages, key=lambda passage: -passage.score)[: size * self._max_batches]
        batches = [best[start : start + size] for start in range(0, len(best), size)]
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
        fence, blocks = self._turn.fence(), NumberedBlocks()
        asked = (*question_lines(question, fence, context=_CONTEXT), *sub_question_lines(plan, fence))
        shown = [line for n, passage in enumerate(batch, 1) for line in blocks.passage_lines(n, passage, fence)]
        user = (
            fence.around("Question", asked),
            fence.around("Passages", shown),
            "Mark the sentences that help to answer.",
        )
        try:
            reply = await self._turn.ask(SPEC, ReadReply, user)
        except (ModelError, Skipped) as error:
            return error
        return _checked(reply, batch, blocks, len(plan.sub_questions))


def _checked(
    reply: ReadReply, batch: Sequence[ReadingPassage], blocks: NumberedBlocks, sub_questions: int
) -> list[Evidence]:
    """Evidence of known passages and their own blocks; the first entry of a passage counts."""
    evidence: dict[int, Evidence] = {}
    for entry in reply.passages:
        index = entry.passage - 1
        if not 0 <= index < len(batch) or index in evidence or entry.relevance < MIN_RELEVANCE:
            continue
        numbers = {number for number in entry.sentences if number in blocks.by_number}
        chosen = {blocks.by_number[number][1].id for number in numbers}
        block_ids = tuple(block.id for block in batch[index].blocks if block.id in chosen)[:MAX_BLOCKS]
        if block_ids:
            evidence[index] = Evidence(
                passage=batch[index],
                block_ids=block_ids,
                relevance=float(min(entry.relevance, 10)),
                sub_questions=tuple(sorted({n - 1 for n in entry.sub_questions if 1 <= n <= sub_questions})),
            )
    return list(evidence.values())
