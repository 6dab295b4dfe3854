"""What passages can say to a question: sentences scored by the table of evidence, put so that they read alone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from engine.agent.evidence.analysed import terms_of
from engine.agent.evidence.headings import headings, is_ended, is_question, spoken
from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import Table
from engine.agent.offline.attributes import answering_fact
from engine.agent.offline.wording import (
    MAX_SENTENCE,
    MIN_SENTENCE,
    NOTHING,
    leans,
    readability,
    tidy,
    untitled,
    without_mark,
)
from engine.agent.steps import ReadingPassage
from engine.analysis.language import language
from engine.question.kinds import Kind, shows, wanted
from engine.question.terms import AskedTerms
from engine.question.turn import Question

PLACE = 0.2
"""What the rank of its passage adds to a sentence, at most, where holding the whole question gives 1."""
TOLD = 0.7
"""Share that a sentence loses of what it owes to words of earlier turns, where an earlier answer said it."""
Shares = npt.NDArray[np.float32]


class Statement(msgspec.Struct, frozen=True):
    """A sentence of a document, with the one before or after it where it does not stand alone.

    Attributes:
        block_ids: what it is made of, in reading order.
        passage: index of its passage.
        score: what it says of what is asked, lowered where it does not read well alone.
        about: the terms of the question that it holds, as indexes.
        heading: what it stands below, where that has a figure, such as a version or a day; else empty.
    """

    text: str
    block_ids: tuple[str, ...]
    passage: int
    score: float
    about: frozenset[int]
    heading: str = ""


class Statements:
    """The sentences of passages, read once and scored against one part of the question after another.

    Args:
        asked: scored against, in place of the question's own terms.
    """

    def __init__(
        self,
        question: Question,
        passages: Sequence[ReadingPassage],
        likeness: Likeness | None = None,
        asked: AskedTerms | None = None,
    ) -> None:
        self.passages = passages
        self._likeness = likeness
        read, held = [p.passage for p in passages], [p.attributes for p in passages]
        self.table = Table(asked or question.terms, read, held, likeness, [_spans(p) for p in passages])
        self._code = question.terms.code
        self._asked_now = question.message or question.text
        self.kind: Kind | None = wanted(question.text, self._code)
        self._asks_how = self.kind is None and language(self._code).pattern("how").search(question.text) is not None
        self._blocks = [block for p in passages for block in p.blocks]
        self._parts: dict[int, str] = {}
        self._starts: dict[int, int] = {}
        top = max((p.score for p in passages), default=0.0) or 1.0
        self._place = np.asarray([p.score / top for p in passages], np.float32)[self.table.of]
        self._told = " ".join(turn.synthesis for turn in question.turns)
        self._again = self._said_before()

    def _part(self, number: int) -> str:
        """What a sentence states, tidied; empty for headings and questions."""
        known = self._parts.get(number)
        if known is None:
            block = self._blocks[number]
            following = self._blocks[number + 1].text[:1] if self._joined(number, number + 1) else ""
            gap = "\n\n" if following and self._ends_line(number) else " "
            passage = self.passages[int(self.table.of[number])].passage
            first = block.start - passage.start
            spans = spoken(block.text, gap + following)
            parts = [without_mark(passage.text, first + start, first + end) for start, end in spans]
            telling = self._telling(parts)
            self._starts[number] = block.text.find(telling[0]) if telling else 0
            known = self._parts[number] = " ".join(map(tidy, telling))
        return known

    def _was_told(self, part: str) -> bool:
        """Whether an earlier answer of the session said a sentence."""
        return bool(self._told) and tidy(part) in self._told

    def _said_before(self) -> Shares:
        """Credits of words of earlier turns that a sentence owes to what was said already, which says nothing new."""
        terms = self.table.asked.terms
        again = np.zeros_like(self.table.own)
        carried = [n for n, term in enumerate(terms) if term.is_carried]
        for row, block in enumerate(self._blocks if carried and self._told else ()):
            parts = [block.text[start:end] for start, end in spoken(block.text)]
            fresh = [part for part in parts if not self._was_told(part)]
            if len(fresh) < len(parts):
                held = terms_of(" ".join(fresh), self.table.asked.languages)
                lost = [n for n in carried if not terms[n].forms & held]
                above = np.maximum(self.table.above[row], self.table.header[self.table.of[row]])
                again[row, lost] = TOLD * np.maximum(self.table.own[row] - above, 0.0)[lost]
        return again

    def _telling(self, parts: Sequence[str]) -> Sequence[str]:
        """Those of a block's sentences that hold something of the question, and what they lean on; else all."""
        if len(parts) < 2:
            return parts
        asked = self.table.asked
        forms = frozenset[str]().union(*(term.forms for term in asked.terms))
        own = frozenset[str]().union(*(term.forms for term in asked.terms if not term.is_carried))
        told = {
            n
            for n, part in enumerate(parts)
            if (own if self._was_told(part) else forms) & terms_of(part, asked.languages)
        }
        told |= {n for n, part in enumerate(parts) if n - 1 in told and leans(part, self._code)}
        told |= {n - 1 for n in told if n > 0 and leans(parts[n], self._code)}
        # A word or two beside the sentence that tells is a heading, whatever mark it ends with.
        told = {n for n in told if len(parts[n]) >= MIN_SENTENCE or not parts[n].isascii()} or told
        return [part for n, part in enumerate(parts) if n in told or not told]

    def shown(self, number: int) -> int:
        """Whether a sentence shows the kind of answer that is asked for; see `shows`."""
        return shows(self.kind, self._part(number), self._code)

    def reads(self, number: int) -> float:
        """Factor; 0 for what states nothing."""
        text = self._part(number)
        return readability(text, self._code) if text else 0.0

    def weights(self, part: frozenset[str] | None = None, *, rest: float = 0.2) -> Shares:
        """Weights of the question's terms; those that are not in a part of it count `rest`."""
        if part is None:
            return self.table.weights
        own = [bool(term.forms & part) for term in self.table.asked.terms]
        return self.table.weights * np.where(own, 1.0, rest).astype(np.float32) if any(own) else self.table.weights

    def towards(self, weights: Shares) -> list[Statement]:
        """One statement for each passage that has any, the most telling first."""
        if not len(self.table.of):
            return []
        weights = weights / max(float(weights.sum()), 1e-9)
        held = self.table.sentences @ weights
        again = self._again @ weights
        said = _Said(self, (held - again + PLACE * self._place).astype(np.float32))
        found: list[Statement] = []
        for passage in range(len(self.passages)):
            best, score = said.best(self.table.rows(passage))
            if score > 0:
                found.append(self._statement(best, passage, score, said))
        return sorted(found, key=lambda s: (-s.score, s.passage))

    def fact(self, statement: Statement) -> Statement | None:
        """The attribute of a statement's document that answers in its place; None where none is asked for."""
        passage = self.passages[statement.passage]
        found = answering_fact(passage, self.table, statement.passage, self.kind, self._likeness, self._asked_now)
        if found is None or shows(self.kind, statement.heading, self._code) > 0:
            # A section that a version or a day heads has its own.
            return None
        name = " ".join(found.attribute.replace("_", " ").split())
        return msgspec.structs.replace(statement, text=tidy(f"{name}: {found.text}"), block_ids=(found.id,), heading="")

    def _statement(self, row: int, passage: int, score: float, said: _Said) -> Statement:
        rows = self._together(row, passage, said)
        text = " ".join(self._part(n) for n in rows)
        heading, place = self._heading(rows[0], self.table.rows(passage))
        cited = sorted({*rows, place}) if heading else rows
        return Statement(
            text,
            tuple(self._blocks[n].id for n in cited),
            passage,
            score,
            frozenset(np.flatnonzero(self.table.sentences[rows].max(axis=0) > 0).tolist()),
            heading,
        )

    def _heading(self, row: int, span: slice) -> tuple[str, int]:
        """The nearest heading above a sentence, where it has a figure, and its row."""
        for near in range(row, span.start - 1, -1):
            text = self._blocks[near].text
            stop = self._starts.get(row, 0) if near == row else len(text)
            found = [text[a:b] for a, b in headings(text, "\n\n") if b <= stop and not is_question(text[a:b])]
            if found:
                heading = untitled(found[-1])
                return (heading, near) if any(map(str.isdigit, heading)) else ("", row)
        return "", row

    def _together(self, row: int, passage: int, said: _Said) -> list[int]:
        """The sentence with those that it needs: what it leans on, what gives the figure, and the steps after it."""
        span = self.table.rows(passage)
        rows = [row]
        if self._asks_how:
            return self._steps(row, span)
        if leans(self._part(row), self._code) and self._fits(rows, row - 1, span):
            rows.insert(0, row - 1)
        if self.shown(row) < 0 and self._fits(rows, row + 1, span) and self.shown(row + 1) > 0:
            rows.append(row + 1)
        if not is_ended(self._blocks[row].text):
            # A script without marks between sentences: what is cut is a phrase, and its neighbours belong to it.
            for near in sorted(
                (rows[0] - 1, rows[-1] + 1), key=lambda n: -said.of(n) if span.start <= n < span.stop else 0
            ):
                if self._fits(rows, near, span) and not self._ends_line(min(near, row)):
                    rows = sorted([*rows, near])
        return rows

    def _steps(self, row: int, span: slice) -> list[int]:
        """The sentence with what follows it below the same heading."""
        rows = [row]
        while self._fits(rows, rows[-1] + 1, span) and self._is_beside(rows[-1] + 1, row):
            rows.append(rows[-1] + 1)
        return rows

    def _is_beside(self, near: int, row: int) -> bool:
        """Whether a sentence stands below the same heading."""
        return bool(self._part(near)) and bool((self._below(near) == self._below(row)).all())

    def _below(self, row: int) -> Shares:
        """Credits of the heading that a sentence stands below, which a short one has in its own block."""
        text = self._blocks[row].text
        opens = min(headings(text), default=(len(text), 0)) < min(spoken(text), default=(0, 0))
        return self.table.above[row + 1 if opens and self._joined(row, row + 1) else row]

    def _fits(self, rows: Sequence[int], near: int, span: slice) -> bool:
        if not span.start <= near < span.stop or near in rows or not self._part(near):
            return False
        return sum(len(self._part(n)) for n in (*rows, near)) <= MAX_SENTENCE and self.reads(near) > NOTHING

    def _joined(self, row: int, near: int) -> bool:
        return 0 <= near < len(self._blocks) and self.table.of[row] == self.table.of[near]

    def _ends_line(self, row: int) -> bool:
        """Whether a line ends behind a sentence."""
        if not self._joined(row, row + 1):
            return True
        passage = self.passages[int(self.table.of[row])].passage
        end = self._blocks[row].start + len(self._blocks[row].text) - passage.start
        return "\n" in passage.text[end : self._blocks[row + 1].start - passage.start]


class _Said:
    """How much each sentence says, by what it holds and how it reads.

    Reading a sentence takes longer than all else, so it is left out for those that could not be the best however well
    they read.

    Args:
        held: what it says where it reads well.
    """

    def __init__(self, statements: Statements, held: Shares) -> None:
        self._statements = statements
        self._most = held
        self._known: dict[int, float] = {}

    def of(self, row: int) -> float:
        """The score of one sentence."""
        known = self._known.get(row)
        if known is None:
            known = self._known[row] = float(self._most[row] * np.float32(self._statements.reads(row)))
        return known

    def best(self, rows: slice) -> tuple[int, float]:
        """The first sentence of those that say most, and its score; 0 where none says anything."""
        most = self._most[rows]
        best, score = rows.start, 0.0
        for row in (rows.start + np.argsort(-most, kind="stable")).tolist():
            if self._most[row] < score:
                break
            said = self.of(row)
            if said > score or (said == score and row < best):
                best, score = row, said
        return best, score


def _spans(passage: ReadingPassage) -> tuple[tuple[int, int], ...]:
    first = passage.passage.start
    return tuple((block.start - first, block.start - first + len(block.text)) for block in passage.blocks)
