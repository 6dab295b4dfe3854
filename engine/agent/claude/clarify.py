"""The clarifier: after a first retrieval, a question back with options that stand in the corpus; mostly none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from engine.agent.answer.addresses import strange_addresses
from engine.agent.answer.gate import OWN_WORDS, Sources, faults_of, own_share
from engine.agent.claude.evidence_lines import NumberedLines
from engine.agent.claude.fence import one_line
from engine.agent.claude.hygiene import clean
from engine.agent.claude.question import question_block
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.steps import ClarificationDraft, Clarifier, Evidence, Plan
from engine.analysis.detection import detect_language
from engine.errors import ModelError
from engine.model.search import Clarification
from engine.question.turn import Question

MIN_OPTIONS = 2
MAX_OPTIONS = 5
MAX_EVIDENCE = 16
UNREAD_BLOCKS = 6
"""Sentences shown of a passage that no reader has seen."""
_QUESTION = 300
_OPTION = 120
_CONTEXT = 4_000
_PLAIN = {
    "en": "Which of these is meant?",
    "de": "Was davon ist gemeint?",
    "fr": "De quoi s’agit-il ?",
    "es": "¿A cuál de estos se refiere?",
    "it": "Quale di questi si intende?",
    "pt": "A qual destes se refere?",
    "nl": "Welke hiervan wordt bedoeld?",
    "ru": "Что из этого имеется в виду?",
    "tr": "Bunlardan hangisi kastediliyor?",
    "zh": "您指的是哪一个？",
    "ja": "どれのことですか？",
    "ko": "이 중 어느 것을 말씀하십니까?",
    "ar": "أيّ من هذه تقصد؟",
    "hi": "इनमें से किसका आशय है?",
}
"""What is asked where the model's own question does not pass the gate; by language."""

SPEC = StepSpec(step="clarify", max_tokens=2_000, cap_s=10.0, keep_s=25.0)


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
        fence = self._turn.fence
        shown = [_readable(item) for item in evidence[:MAX_EVIDENCE]]
        user = (
            question_block(question, fence, context=_CONTEXT, plan=plan),
            fence.around("Evidence", NumberedLines(fence).evidence_lines(shown)),
            "Step: clarify",
        )
        try:
            reply = await self._turn.ask(SPEC, ClarifyReply, user)
        except (ModelError, Skipped) as error:
            self._turn.fell_back(SPEC.step, error, silent=True)
            return await self._twin.clarify(question, plan, evidence)
        return self._checked(reply, question, shown)

    def _checked(
        self, reply: ClarifyReply, question: Question, evidence: Sequence[Evidence]
    ) -> ClarificationDraft | None:
        if not reply.needed:
            return None
        values, text = self._values(evidence), _shown_text(evidence)
        own = (question.request.objective, question.request.context, question.message)
        narrowing: dict[str, Mapping[str, Any] | None] = {}
        for written in reply.options:
            option = clean(written)[:_OPTION].strip()
            folded = option.casefold()
            if not option or folded in {known.casefold() for known in narrowing}:
                continue
            if strange_addresses(option, own):
                self._turn.remove("option", option, ("it is an address or a command",))
            elif folded in values:
                attribute, value = values[folded]
                narrowing[value] = {attribute: value}
            elif folded in text:
                narrowing[option] = None
            else:
                self._turn.remove("option", option, ("it stands in no title, sentence or value shown",))
        options = tuple(narrowing)[:MAX_OPTIONS]
        if len(options) < MIN_OPTIONS:
            return None
        asked = self._asked(clean(reply.question)[:_QUESTION].strip(), question, options)
        return ClarificationDraft(Clarification(asked, options), {option: narrowing[option] for option in options})

    def _asked(self, written: str, question: Question, options: Sequence[str]) -> str:
        """The model's question if it is made of the client's words and of the options; else one of ours."""
        own = (question.request.objective, question.request.context, question.message, *options)
        reasons = [
            fault.reason for fault in faults_of(written, Sources((), asked=own), is_written=True) if fault.is_sure
        ]
        share = own_share(written, own)
        if written.endswith(("?", "？", "؟")) and not reasons and share >= OWN_WORDS / 2:
            return written
        self._turn.remove("question", written, reasons or ["it is not made of what was asked"])
        return _PLAIN.get(detect_language(question.message or question.request.objective), _PLAIN["en"])

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
        pairs += [
            (name, fact.text)
            for item in evidence
            for fact in item.passage.facts
            if (name := fact.attribute.partition("[")[0]) in filterable
        ]
        found: dict[str, tuple[str, str]] = {}
        for name, value in pairs:
            for element in cast("list[object]", value) if isinstance(value, list) else [value]:
                if isinstance(element, str):
                    found.setdefault(one_line(element).casefold(), (name, element))
        return found


def _shown_text(evidence: Sequence[Evidence]) -> str:
    """Sentences, titles and values as they were shown, folded."""
    texts = [item.passage.passage.header for item in evidence]
    texts += [fact.text for item in evidence for fact in item.passage.facts]
    texts += [str(value) for item in evidence for value in item.passage.attributes.values()]
    texts += [block.text for item in evidence for block in item.passage.blocks if block.id in item.block_ids]
    return "\n".join(one_line(text).casefold() for text in texts)


def _readable(item: Evidence) -> Evidence:
    """The evidence itself or, where nothing was read yet, the beginning of its passage."""
    if item.block_ids:
        return item
    return msgspec.structs.replace(item, block_ids=tuple(block.id for block in item.passage.blocks[:UNREAD_BLOCKS]))
