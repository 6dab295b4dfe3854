"""The clarifier: after a first retrieval, a question back with options that stand in the corpus; mostly none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from engine.agent.claude.fence import one_line
from engine.agent.claude.hygiene import clean
from engine.agent.claude.question import NumberedBlocks, question_lines, sub_question_lines
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import ClarificationDraft, Clarifier, Evidence, Plan, Question
from engine.errors import ModelError
from engine.model.search import Clarification

MIN_OPTIONS = 2
MAX_OPTIONS = 5
MAX_EVIDENCE = 16
UNREAD_BLOCKS = 6
"""Sentences shown of a passage that no reader has seen."""
_QUESTION = 300
_OPTION = 120
_CONTEXT = 4_000

SPEC = StepSpec(step="clarify", prompt="clarify", max_tokens=2_000, cap_s=10.0, keep_s=25.0)


class ClarifyReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of the clarifying call."""

    needed: bool
    question: str
    options: tuple[str, ...]


class ClaudeClarifier:
    """`Clarifier` on a model; its twin decides when the model cannot."""

    def __init__(self, turn: ModelTurn, twin: Clarifier) -> None:
        self._turn = turn
        self._twin = twin

    async def clarify(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
        if not question.request.multiturn or not evidence:
            return None
        fence, blocks = self._turn.fence(), NumberedBlocks()
        asked = (*question_lines(question, fence, context=_CONTEXT), *sub_question_lines(plan, fence))
        evidence = [_readable(item) for item in evidence[:MAX_EVIDENCE]]
        shown = blocks.evidence_lines(evidence, fence)
        user = (fence.around("Question", asked), fence.around("Evidence", shown), "Decide whether to ask back.")
        try:
            reply = await self._turn.ask(SPEC, ClarifyReply, user)
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error, silent=True)
            return await self._twin.clarify(question, plan, evidence)
        return self._checked(reply, evidence)

    def _checked(self, reply: ClarifyReply, evidence: Sequence[Evidence]) -> ClarificationDraft | None:
        if not reply.needed:
            return None
        values = self._values(evidence)
        text = "\n".join(
            one_line(block.text).casefold()
            for item in evidence
            for block in item.passage.blocks
            if block.id in item.block_ids
        )
        narrowing: dict[str, Mapping[str, Any] | None] = {}
        for written in reply.options:
            option = clean(written, ())[:_OPTION].strip()
            folded = option.casefold()
            if not option or folded in {known.casefold() for known in narrowing}:
                continue
            if folded in values:
                attribute, value = values[folded]
                narrowing[value] = {attribute: value}
            elif folded in text:
                narrowing[option] = None
        question = clean(reply.question, ())[:_QUESTION].strip()
        options = tuple(narrowing)[:MAX_OPTIONS]
        if not question or len(options) < MIN_OPTIONS:
            return None
        return ClarificationDraft(Clarification(question, options), {option: narrowing[option] for option in options})

    def _values(self, evidence: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
        """Text values of filterable attributes, case folded, with attribute and value as stored.

        Of the evidence only: other values of the namespace may lie outside the caller's filter.
        """
        if self._turn.corpus is None:
            return {}
        filterable = set(self._turn.corpus.schema.filterable())
        pairs = [
            (name, value) for item in evidence for name, value in item.passage.attributes.items() if name in filterable
        ]
        found: dict[str, tuple[str, str]] = {}
        for name, value in pairs:
            for element in cast("list[object]", value) if isinstance(value, list) else [value]:
                if isinstance(element, str):
                    found.setdefault(one_line(element).casefold(), (name, element))
        return found


def _readable(item: Evidence) -> Evidence:
    """The evidence itself or, where nothing was read yet, the beginning of its passage."""
    if item.block_ids:
        return item
    return msgspec.structs.replace(item, block_ids=tuple(block.id for block in item.passage.blocks[:UNREAD_BLOCKS]))
