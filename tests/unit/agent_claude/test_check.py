from __future__ import annotations

import asyncio
from typing import Any

from engine.agent.claude.check import MAX_CALLS
from engine.agent.drafts import Statement
from engine.errors import ModelUnavailable
from engine.llm.protocol import StructuredCall
from engine.llm.scripted import ScriptedModel
from tests.unit.agent_claude.examples import QUESTION, Bench

STATEMENT = Statement("It cost 12 million.", ("It cost 12 million crowns.",), ("newspaper: Gazette",), ("a doubt",))


def decided(statements: list[Statement], script: Any) -> tuple[dict[int, tuple[str, str]], Bench, ScriptedModel]:
    model = ScriptedModel(script)
    bench = Bench(model)
    assert bench.steps.checker is not None
    verdicts: dict[int, tuple[str, str]] = {}

    def note(index: int, verdict: str, reason: str) -> None:
        verdicts[index] = verdict, reason

    asyncio.run(bench.steps.checker.check(QUESTION, statements, note))
    return verdicts, bench, model


def numbered(call: StructuredCall) -> dict[str, Any]:
    count = sum(line.startswith("Statement ") for line in call.user[1].split("\n"))
    entries = [{"statement": n, "verdict": "supported" if n % 2 else "no", "reason": ""} for n in range(1, count + 1)]
    return {"statements": entries}


def test_a_statement_is_shown_with_its_excerpts_values_and_doubts() -> None:
    _, _, model = decided([STATEMENT], numbered)
    assert model.calls[0].fast
    assert model.calls[0].user[1].split("\n")[2:-1] == [
        "Statement 1: It cost 12 million.",
        "Excerpt: It cost 12 million crowns.",
        "Value: newspaper: Gazette",
        "Doubt: a doubt",
    ]


def test_many_statements_are_read_in_one_round_of_parallel_calls() -> None:
    verdicts, _, model = decided([STATEMENT] * 40, numbered)
    assert len(model.calls) == MAX_CALLS
    assert sorted(verdicts) == list(range(40))


def test_what_a_reply_does_not_name_or_names_twice_is_not_decided_twice() -> None:
    entries = [
        {"statement": n, "verdict": verdict, "reason": "r"}
        for n, verdict in [(0, "no"), (2, "no"), (2, "supported"), (99, "no"), (-1, "no")]
    ]
    verdicts, _, _ = decided([STATEMENT] * 2, [{"statements": entries}])
    assert verdicts == {1: ("no", "r")}


def test_a_call_that_fails_leaves_its_statements_open() -> None:
    def second_fails(call: StructuredCall) -> Any:
        return ModelUnavailable("x") if "Other." in call.user[1] else numbered(call)

    verdicts, bench, _ = decided([STATEMENT] * 2 + [Statement("Other.", ("Other thing.",))] * 2, second_fails)
    assert sorted(verdicts) == [0, 1]
    assert bench.agent.fallbacks.snapshot() == {("check", "model_unavailable"): 1}
    assert bench.steps.notice() is None
