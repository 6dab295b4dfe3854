"""The statement check: each statement against what it cites, on the cheap model, in one parallel round."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

import msgspec

from engine.agent.claude.question import question_block
from engine.agent.claude.turn import ModelTurn, Skipped, StepSpec
from engine.agent.drafts import Statement, Verdict
from engine.errors import ModelError
from engine.question.turn import Question

MAX_CALLS = 8
LEAST = 2
"""Statements a call, at least, where there are as many."""
_CONTEXT = 1_500
_REASON = 160
_AROUND = 400
_VALUES = 40

SPEC = StepSpec(step="check", fast=True, max_tokens=2_000, cap_s=10.0, keep_s=1.0, keep_tokens=0)


class VerdictReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the sources make of one statement; `statement` counts from 1."""

    statement: int
    verdict: Verdict
    reason: str


class CheckReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of a checking call."""

    statements: tuple[VerdictReply, ...]


class ClaudeChecker:
    """`Checker` on the fast model. What a failed call leaves open, the mechanical gate decides."""

    def __init__(self, turn: ModelTurn) -> None:
        self._turn = turn

    async def check(
        self, question: Question, statements: Sequence[Statement], decided: Callable[[int, Verdict, str], None]
    ) -> None:
        size = max(LEAST, -(-len(statements) // MAX_CALLS))
        starts = range(0, len(statements), size)
        errors = await asyncio.gather(*(self._check(question, statements[n : n + size], n, decided) for n in starts))
        if failed := [error for error in errors if error is not None]:
            self._turn.fell_back(SPEC.step, failed[0], silent=True)

    async def _check(
        self,
        question: Question,
        statements: Sequence[Statement],
        first: int,
        decided: Callable[[int, Verdict, str], None],
    ) -> ModelError | Skipped | None:
        fence = self._turn.fence
        user = (
            question_block(question, fence, context=_CONTEXT),
            fence.around("Statements", self._lines(statements)),
            "Step: check",
        )
        try:
            reply = await self._turn.ask(SPEC, CheckReply, user)
        except (ModelError, Skipped) as error:
            return error
        seen: set[int] = set()
        for entry in reply.statements:
            index = entry.statement - 1
            if 0 <= index < len(statements) and index not in seen:
                seen.add(index)
                decided(first + index, entry.verdict, fence.line(entry.reason, _REASON))
        return None

    def _lines(self, statements: Sequence[Statement]) -> Iterator[str]:
        line = self._turn.fence.line
        for number, statement in enumerate(statements, 1):
            yield f"Statement {number}: {line(statement.text)}"
            for excerpt in statement.excerpts:
                yield f"Excerpt: {line(excerpt)}"
            for value in statement.around[:_VALUES]:
                yield f"Value: {line(value, _AROUND)}"
            for hint in statement.hints:
                yield f"Doubt: {line(hint, 200)}"
