"""The question and the evidence as lines of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.agent.claude.fence import Fence
from engine.agent.steps import Block, Evidence, Plan, PlannedQuery, Question, ReadingPassage
from engine.model.document import JsonValue

MAX_TURNS = 6
MAX_ATTRIBUTES = 8
MAX_ATTRIBUTE_VALUE = 120


def question_lines(question: Question, fence: Fence, *, context: int, turns: int = 600) -> Iterator[str]:
    """What is asked, with what was said before.

    Args:
        context: characters of the request's context that are shown.
        turns: characters shown of each earlier answer.
    """
    yield f"Objective: {fence.line(question.request.objective)}"
    yield f"Background: {fence.line(question.request.context, context)}"
    for turn in question.turns[-MAX_TURNS:]:
        yield f"Earlier message: {fence.line(turn.message, turns)}"
        if turn.synthesis:
            yield f"Earlier answer: {fence.line(turn.synthesis, turns)}"
    if question.message:
        yield f"Message to answer now: {fence.line(question.message, context)}"


def sub_question_lines(plan: Plan, fence: Fence) -> Iterator[str]:
    """Numbered from 1."""
    for number, sub_question in enumerate(plan.sub_questions, 1):
        yield f"Sub-question {number}: {fence.line(sub_question.text, 500)}"


def query_lines(queries: Sequence[PlannedQuery], fence: Fence) -> Iterator[str]:
    """The words of each query, and whether it was restricted."""
    for query in queries:
        yield f"Query run: {fence.line(query.text, 300)}" + (" (restricted)" if query.narrowing else "")


def attribute_text(attributes: Mapping[str, JsonValue], fence: Fence) -> str:
    """``name: value | name: value`` of short values; empty for none."""
    shown: list[str] = []
    for name, value in list(attributes.items())[:MAX_ATTRIBUTES]:
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        shown.append(f"{fence.line(name, 60)}: {fence.line(text, MAX_ATTRIBUTE_VALUE)}")
    return " | ".join(shown)


class NumberedBlocks:
    """Blocks by the numbers under which one call shows them; the model knows no others.

    Attributes:
        by_number: from 1, in the order shown.
    """

    def __init__(self) -> None:
        self.by_number: dict[int, tuple[str, Block]] = {}

    def passage_lines(self, number: int, passage: ReadingPassage, fence: Fence) -> Iterator[str]:
        """A whole passage with all its blocks."""
        attributes = attribute_text(passage.attributes, fence)
        yield f"Passage {number}" + (f" ({attributes})" if attributes else "")
        yield from self._numbered(passage.passage.document_id, passage.blocks, fence)

    def evidence_lines(self, evidence: Sequence[Evidence], fence: Fence) -> Iterator[str]:
        """The chosen blocks, document by document, each block once."""
        documents: dict[str, list[Evidence]] = {}
        for item in evidence:
            documents.setdefault(item.passage.passage.document_id, []).append(item)
        for number, (document_id, items) in enumerate(documents.items(), 1):
            attributes = attribute_text(items[0].passage.attributes, fence)
            yield f"Document {number}" + (f" ({attributes})" if attributes else "")
            chosen: dict[str, Block] = {}
            for item in items:
                chosen.update((block.id, block) for block in item.passage.blocks if block.id in item.block_ids)
            yield from self._numbered(document_id, tuple(chosen.values()), fence)

    def _numbered(self, document_id: str, blocks: Sequence[Block], fence: Fence) -> Iterator[str]:
        for block in blocks:
            number = len(self.by_number) + 1
            self.by_number[number] = (document_id, block)
            yield f"[{number}] {fence.line(block.text)}"
