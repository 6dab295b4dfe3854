"""Evidence without a model: the sentences of a passage that cover a part of the question."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.agent.evidence.coverage import Coverage
from engine.agent.offline import wording
from engine.agent.steps import Block, Evidence, Plan, ReadingPassage
from engine.agent.workers import InThread
from engine.analysis.scripts import CAPITAL
from engine.question.turn import Question

MAX_BLOCKS = 5
ENOUGH = 0.6
"""Share of the passage's best sentence from which another one is evidence too."""
NEIGHBOUR = 0.2
"""What a sentence gains from the better of its neighbours: a thought often runs over two."""
BEARS = 0.6
"""Share of the best coverage of a sub-question from which a passage bears on it."""
_NAME = re.compile(rf"(?<=\s)[{CAPITAL}]\w+")
_MANY = 8
"""Passages from which on reading leaves the event loop."""

Table = npt.NDArray[np.float64]


class OfflineReader:
    """Scores sentences by the rarity of the words of a sub-question that they hold, in their context."""

    def __init__(self, run: InThread = asyncio.to_thread) -> None:
        self._run = run

    async def read(self, question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]:
        if len(passages) < _MANY:
            return read_now(question, plan, passages)
        return await self._run(read_now, question, plan, passages)


def read_now(question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]:
    """Evidence of every passage that has a sentence, most relevant first."""
    coverage = Coverage(question, plan, [p.passage for p in passages])
    tables = [coverage.rows(number).T.astype(np.float64) for number in range(len(passages))]
    readable = [(p, t) for p, t in zip(passages, tables, strict=True) if t.size and p.blocks]
    if not readable:
        return []
    best = np.max([table.max(axis=1) for _, table in readable], axis=0)
    code = question.terms.code
    found = [_evidence(passage, table, plan, best, code) for passage, table in readable]
    return sorted(found, key=lambda e: (-e.relevance, -e.passage.score, e.passage.passage.label))


def _evidence(passage: ReadingPassage, table: Table, plan: Plan, best: Table, code: str) -> Evidence:
    """The sentences of one passage that say most.

    Args:
        table: coverage of each target by each sentence.
        best: the best coverage of each target by any passage.
    """
    scores = in_context(table).max(axis=0)
    top = float(scores.max())
    ranked = sorted(range(len(scores)), key=lambda n: (-scores[n], n))
    chosen: set[int] = {ranked[0]}
    for number in ranked[1:]:
        if len(chosen) >= MAX_BLOCKS or scores[number] < ENOUGH * top:
            break
        chosen.add(number)
    for number in sorted(chosen):
        # A sentence about "he" or "this" says nothing without the one before it.
        if len(chosen) < MAX_BLOCKS and number > 0 and leans(passage.blocks[number], code):
            chosen.add(number - 1)
    covered = table.max(axis=1)
    parts = [n for n in range(len(plan.sub_questions)) if n < len(covered) and covered[n] >= BEARS * best[n] > 0]
    return Evidence(
        passage=passage,
        block_ids=tuple(passage.blocks[n].id for n in sorted(chosen)),
        relevance=min(10.0, 10.0 * float(table.max())),
        sub_questions=tuple(parts) or (int(covered[: max(1, len(plan.sub_questions))].argmax()),),
    )


def in_context(table: Table) -> Table:
    """Coverage with a share of the better neighbour's, so that of two equal sentences the one in context wins."""
    padded = np.pad(table, ((0, 0), (1, 1)))
    neighbours = np.maximum(padded[:, :-2], padded[:, 2:])
    return table + NEIGHBOUR * neighbours * (table > 0)


def leans(block: Block, code: str) -> bool:
    """Whether a sentence opens with a word that stands for something before it, and names nothing itself."""
    text = " ".join(block.text.split())
    return wording.leans(text, code) and _NAME.search(text) is None
