"""Passages and evidence as numbered lines of a prompt, in the order of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.agent.claude.fence import Fence
from engine.agent.steps import Block, Evidence, ReadingPassage

GAP = "[…]"
"""Stands between sentences that do not follow on each other."""
_NAME = 60
_WHITE = 4
"""Characters of white space that may stand between two sentences."""


class NumberedLines:
    """Blocks by the numbers under which they are shown; the model knows no others.

    Lines are only ever added, so that what one call was shown is the beginning of what the next one is shown.

    Attributes:
        by_number: from 1, in the order shown: the document, and the block.
    """

    def __init__(self, fence: Fence) -> None:
        self.by_number: dict[int, tuple[str, Block]] = {}
        self._fence = fence
        self._documents: dict[str, int] = {}
        self._shown: set[str] = set()
        self._last = "", "", 0

    def passage_lines(self, passages: Sequence[ReadingPassage]) -> Iterator[str]:
        """Whole passages with all their blocks; the facts of a document stand before its first."""
        for number, passage in enumerate(passages, 1):
            yield f"Passage {number} (document {self._document(passage)})"
            yield from self._facts(passage)
            if passage.before:
                yield f"(before it: {self._fence.line(passage.before)})"
            yield from self._blocks(passage, passage.blocks)

    def evidence_lines(self, evidence: Sequence[Evidence]) -> Iterator[str]:
        """The chosen blocks with the one before each, document by document, in the order of the text.

        What was shown before is not shown again.
        """
        groups: dict[str, list[Evidence]] = {}
        for item in evidence:
            groups.setdefault(item.passage.passage.document_id, []).append(item)
        for items in groups.values():
            again = " (continued)" if items[0].passage.passage.document_id in self._documents else ""
            lines = [line for item in in_order(items) for line in self._chosen(item)]
            if lines:
                yield f"Document {self._document(items[0].passage)}{again}, {_told(items)}"
                yield from lines

    def _chosen(self, item: Evidence) -> Iterator[str]:
        passage = item.passage
        yield from self._facts(passage)
        places = [n for n, block in enumerate(passage.blocks) if block.id in item.block_ids]
        wanted = sorted({*places, *(n - 1 for n in places if n > 0)})
        new = [n for n in wanted if passage.blocks[n].id not in self._shown]
        if new and new[0] == 0 and passage.before:
            yield f"(before it: {self._fence.line(passage.before)})"
        for place in new:
            block = passage.blocks[place]
            if not self._follows(passage, block):
                yield GAP
            yield from self._blocks(passage, [block])
            self._last = passage.passage.document_id, passage.passage.attribute, block.start + len(block.text)

    def _follows(self, passage: ReadingPassage, block: Block) -> bool:
        """Whether a block begins its text, or the line before it is what stands before it there."""
        document, attribute, end = self._last
        if block.start <= _WHITE:
            return True
        is_same = (document, attribute) == (passage.passage.document_id, passage.passage.attribute)
        return is_same and 0 <= block.start - end <= _WHITE

    def _facts(self, passage: ReadingPassage) -> Iterator[str]:
        document = passage.passage.document_id
        for fact in passage.facts:
            key = f"{document}\x1f{fact.attribute}"
            if key not in self._shown:
                self._shown.add(key)
                name = self._fence.line(fact.attribute, _NAME)
                yield f"[{self._number(document, fact)}] {name}: {self._fence.line(fact.text)}"

    def _blocks(self, passage: ReadingPassage, blocks: Sequence[Block]) -> Iterator[str]:
        for block in blocks:
            self._shown.add(block.id)
            number = self._number(passage.passage.document_id, block)
            yield f"[{number}] {self._fence.line(block.text)}"

    def _document(self, passage: ReadingPassage) -> int:
        return self._documents.setdefault(passage.passage.document_id, len(self._documents) + 1)

    def _number(self, document: str, block: Block) -> int:
        number = len(self.by_number) + 1
        self.by_number[number] = document, block
        return number


def in_order(items: Sequence[Evidence]) -> list[Evidence]:
    """Evidence of one document in the order of its text."""
    return sorted(items, key=lambda e: (e.passage.passage.attribute, e.passage.passage.start))


def _told(items: Sequence[Evidence]) -> str:
    """What readers made of a document."""
    best = max(item.relevance for item in items)
    parts = sorted({part + 1 for item in items for part in item.sub_questions})
    bearing = f", bears on sub-question {', '.join(map(str, parts))}" if parts else ""
    return "unread" if best <= 0 else f"relevance {best:.0f}{bearing}"
