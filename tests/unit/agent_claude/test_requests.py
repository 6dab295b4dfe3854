"""Golden copies of the request bodies: what the service is asked, byte for byte.

After a wanted change: ``python -m tests.unit.agent_claude.test_requests`` writes them anew; read the difference.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.agent.drafts import Problem, Statement
from engine.agent.steps import Repairer, SoFar
from engine.llm.claude import ClaudeModel
from engine.settings import ModelSettings
from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.unit.agent_claude.examples import CORPUS, FOLLOW_UP, MULTITURN, PASSAGES, PLAN, Bench

SO_FAR = SoFar(PLAN.queries, {0: 7}, rounds_left=2, dropped=("year any of many",), absent=("Orrin",))
STATEMENTS = [
    Statement(
        "The Gazette said 12 million.", ("It cost 12 million crowns.",), ("newspaper: Harbour Gazette",), ("said?",)
    )
]
GOLDEN = Path(__file__).parent / "golden"
STEPS = ["plan", "read", "answer", "repair", "check", "clarify"]
REPLIES: dict[str, Any] = {
    "sub_questions": {
        "sub_questions": [{"text": "What cost did the papers report in 1986?", "entities": ["Pellam"]}],
        "queries": [{"text": "Pellam bridge cost", "sub_question": 1, "mode": "hybrid", "conditions": []}],
        "shape": "comparison",
    },
    "passages": {
        "passages": [
            {"passage": 1, "relevance": 9, "sentences": [2], "sub_questions": [1]},
            {"passage": 2, "relevance": 7, "sentences": [3], "sub_questions": [1]},
        ]
    },
    "coverage": {
        "coverage": [{"sub_question": 1, "covered": "yes"}],
        "queries": [],
        "findings": [{"finding": "The Gazette said 12 million.", "sentences": [1]}],
        "sentences": [{"text": "The Gazette said 12 million.", "findings": [1], "computed": []}],
        "caveats": [],
        "missing": [],
        "answerable": True,
    },
    "statements": {"statements": [{"statement": 1, "verdict": "supported", "reason": ""}]},
    "needed": {"needed": False, "question": "", "options": []},
}


def answer(received: Received) -> Answer:
    properties = received.body["output_config"]["format"]["schema"]["properties"]
    return Answer(REPLIES[next(iter(properties))])


def requests() -> dict[str, Any]:
    """The body of each step's request, from one turn over HTTP."""

    async def turn(bench: Bench) -> None:
        plan = await bench.steps.planner.plan(FOLLOW_UP, CORPUS)
        evidence = await bench.steps.reader.read(FOLLOW_UP, plan, PASSAGES)
        answerer, checker = bench.steps.answerer, bench.steps.checker
        outcome = await answerer.answer(FOLLOW_UP, plan, evidence, SO_FAR)
        assert isinstance(answerer, Repairer)
        assert outcome.draft is not None
        await answerer.repair(FOLLOW_UP, outcome.draft, [Problem("sentence", 0, "the number 12 stands nowhere")])
        assert checker is not None
        await checker.check(FOLLOW_UP, STATEMENTS, lambda *_: None)
        await bench.steps.clarifier.clarify(MULTITURN, plan, evidence)

    with FakeMessages(answer) as server:
        with pytest.MonkeyPatch.context() as patch:
            # The provider's own address, as far as the settings know.
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            model = ClaudeModel(ModelSettings(api_key=server.key))
            asyncio.run(turn(Bench(model)))
        model.close()
    assert [received.refused for received in server.requests] == [None] * len(STEPS)
    return dict(zip(STEPS, (received.body for received in server.requests), strict=True))


@pytest.fixture(scope="module")
def bodies() -> dict[str, Any]:
    return requests()


@pytest.mark.parametrize("step", STEPS)
def test_the_request_is_the_one_that_was_read_and_agreed_to(bodies: dict[str, Any], step: str) -> None:
    assert bodies[step] == json.loads((GOLDEN / f"{step}.json").read_text(encoding="utf-8"))


def test_the_reader_and_the_checker_use_the_fast_model(bodies: dict[str, Any]) -> None:
    fast = [step for step, body in bodies.items() if body["model"] == ModelSettings().names[1]]
    assert fast == ["read", "check"]


def test_the_cached_prefix_holds_nothing_of_the_search(bodies: dict[str, Any]) -> None:
    for body in bodies.values():
        assert len(body["system"]) == 1
        assert "0123456789abcdef" not in body["system"][0]["text"]
        assert FOLLOW_UP.message not in body["system"][0]["text"]
        assert FOLLOW_UP.request.context not in body["system"][0]["text"]


def test_the_planner_is_sent_nothing_of_a_document(bodies: dict[str, Any]) -> None:
    sent = json.dumps(bodies["plan"])
    assert not any(block.text in sent for item in PASSAGES for block in item.blocks)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, body in requests().items():
        text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
        (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
