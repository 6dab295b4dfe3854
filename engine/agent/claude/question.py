"""The question as lines of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.agent.claude.fence import Fence
from engine.agent.steps import Plan, PlannedQuery
from engine.question.turn import Question

MAX_TURNS = 6


def question_block(question: Question, fence: Fence, *, context: int, plan: Plan | None = None) -> str:
    """What is asked, with what was said before, and the parts that it was taken apart into.

    Args:
        context: characters of the request's context that are shown.
    """
    lines = list(_question_lines(question, fence, context))
    if plan is not None:
        lines += [f"Sub-question {n}: {fence.line(part.text, 500)}" for n, part in enumerate(plan.sub_questions, 1)]
    return fence.around("Question", lines)


def _question_lines(question: Question, fence: Fence, context: int, turns: int = 600) -> Iterator[str]:
    yield f"Objective: {fence.line(question.request.objective)}"
    yield f"Background: {fence.line(question.request.context, context)}"
    for turn in question.turns[-MAX_TURNS:]:
        yield f"Earlier message: {fence.line(turn.message, turns)}"
        if turn.synthesis:
            yield f"Earlier answer: {fence.line(turn.synthesis, turns)}"
    if question.message:
        yield f"Message to answer now: {fence.line(question.message, context)}"


def query_lines(queries: Sequence[PlannedQuery], hits: Mapping[int, int], fence: Fence) -> Iterator[str]:
    """The words of each query, whether it was restricted, and how many passages it brought up where that is known."""
    for number, query in enumerate(queries):
        found = f": {hits[number]} passages" if number in hits else ""
        yield f"Query run: {fence.line(query.text, 300)}{' (restricted)' if query.narrowing else ''}{found}"
