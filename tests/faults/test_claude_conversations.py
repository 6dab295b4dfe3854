"""What people do in whole searches on a model: choose an option, ask for a value, watch the stream, ask how it came."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import EngineSettings, ModelSettings, SessionResult, StatusEvent
from tests.fakes.messages_replies import Act, Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import EMPTY, honest, step_of
from tests.faults.test_claude_search import COSTS, PAPERS, SCHEMA, check_answer, events_of, opened, polite


def asks_back(received: Received) -> Act:
    """Asks which paper is meant, and does not ask again."""
    if step_of(received) != "clarify":
        return polite(received)
    options = ["Harbour Gazette", "Coastal Times"]
    return Answer({"needed": True, "question": "Which papers did report?", "options": options})


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("The second one, please.", {"times-1", "times-2"}),
        ("the first", {"gazette-1"}),
        ("I meant what stood in the Coastal Times back then", {"times-1", "times-2"}),
        ("Die zweite bitte", {"times-1", "times-2"}),
    ],
)
def test_an_option_may_be_chosen_by_its_place_or_within_a_sentence(
    tmp_path: Path, message: str, found: set[str]
) -> None:
    with opened(tmp_path, asks_back) as (quarry, server):
        asked = quarry.search("papers", multiturn=True, **COSTS)
        assert asked.clarification_needed is not None
        assert asked.clarification_needed.options == ("Harbour Gazette", "Coastal Times")
        server.requests.clear()
        response = quarry.continue_search("papers", asked.session_id, message=message)
        check_answer(quarry, response)
        assert {result.id for result in response.results} <= found
        assert response.results
        assert "clarify" not in {step_of(received) for received in server.requests}


def cites_values(received: Received) -> Act:
    """Answers with an attribute value of each document, as a line of its own in the evidence."""
    step = step_of(received)
    if step != "answer":
        return Answer(honest(step, received))
    lines = [line for line in received.user.split("\n") if "] newspaper: " in line]
    numbers = [int(line[1 : line.index("]")]) for line in lines]
    names = [line.partition("newspaper: ")[2] for line in lines]
    findings = [
        {"finding": f"It stood in the {name}.", "sentences": [n]} for n, name in zip(numbers, names, strict=True)
    ]
    sentences = [
        {"text": f"One report stood in the {name}.", "findings": [n], "computed": []} for n, name in enumerate(names, 1)
    ]
    return Answer({**EMPTY, "findings": findings, "sentences": sentences})


def test_an_attribute_can_be_cited_and_its_excerpt_is_the_value(tmp_path: Path) -> None:
    with opened(tmp_path, cites_values) as (quarry, _):
        response = quarry.search("papers", objective="In which newspapers was the bridge reported on?", context="c")
        check_answer(quarry, response)
        assert response.results
        for result in response.results:
            assert result.excerpts == (quarry.get("papers", result.id)["newspaper"],)
        assert "One report stood in the Harbour Gazette. [" in response.synthesis


def streamed(tmp_path: Path, **settings: Any) -> tuple[list[str], SessionResult]:
    with FakeMessages(polite) as server:
        llm = ModelSettings(api_key=server.key, base_url=server.url)
        with engine.open(tmp_path, settings=EngineSettings(llm=llm, **settings)) as quarry:
            quarry.upsert("papers", PAPERS, schema=SCHEMA)
            *progress, last = asyncio.run(events_of(quarry, **COSTS))
    assert isinstance(last, SessionResult)
    return [event.message for event in progress if isinstance(event, StatusEvent)], last


def test_sentences_are_streamed_unless_it_is_switched_off_and_the_end_is_the_same(tmp_path: Path) -> None:
    told, last = streamed(tmp_path / "on")
    silent, same = streamed(tmp_path / "off", stream_sentences=False)
    checked = [message for message in told if message.startswith("Checked: ")]
    assert checked
    assert all(message.removeprefix("Checked: ").rstrip(".") in last.response.synthesis for message in checked)
    assert silent == [message for message in told if message not in checked]
    assert silent
    assert same.response.synthesis == last.response.synthesis
    assert same.response.results == last.response.results


def test_explain_holds_the_plan_the_queries_what_was_removed_and_every_token(tmp_path: Path) -> None:
    def careless(received: Received) -> Act:
        step = step_of(received)
        reply = honest(step, received)
        if step == "plan":
            narrow = {"attribute": "year", "operator": "at_least", "values": ["1980"]}
            wrong = {"attribute": "mood", "operator": "any_of", "values": ["angry"]}
            query = {"text": "bridge costs", "sub_question": 1, "mode": "lexical", "conditions": [narrow, wrong]}
            reply = {
                "sub_questions": [{"text": "What did it cost?", "entities": []}],
                "queries": [query],
                "shape": "list",
            }
        if step == "answer":
            reply["sentences"].append({"text": "It cost 99 million crowns.", "findings": [1], "computed": []})
            reply["missing"] = ["the costs of the bridge"]
        return Answer(reply, input_tokens=1_000, output_tokens=50, cache_read=300, cache_write=20)

    with opened(tmp_path, careless) as (quarry, server):
        told = quarry.search("papers", **COSTS).explain
        assert told is not None
        assert (told.parts, told.shape, told.rounds) == (("What did it cost?",), "list", 1)
        narrowed = next(query for query in told.queries if query.text == "bridge costs")
        assert (narrowed.mode, narrowed.round, narrowed.narrowing) == ("lexical", 1, {"year": {"$gte": 1980}})
        assert all(0 <= query.new <= query.hits for query in told.queries)
        assert sum(query.new for query in told.queries) == told.read == 3
        assert any("mood" in condition for condition in told.dropped_conditions)
        (removed,) = told.removed
        assert (removed.part, removed.text, removed.mended) == ("sentence", "It cost 99 million crowns.", False)
        assert any("99" in reason for reason in removed.reasons)
        assert [call.step for call in told.calls] == [step_of(received) for received in server.requests]
        assert {call.outcome for call in told.calls} == {"ok"}
        assert told.tokens == 1_370 * len(server.requests)
        assert told.degraded == ()


def test_a_planner_is_told_the_range_of_an_attribute_with_more_values_than_can_be_listed(tmp_path: Path) -> None:
    many = [
        {
            "id": f"n{n}",
            "text": f"The Pellam bridge was counted by clerk {n}.",
            "at": f"2020-01-01T00:00:00.{n:06}Z",
            "size": n,
        }
        for n in range(2_100)
    ]
    schema = {
        "text": {"type": "string", "is_searchable": True},
        "at": {"type": "datetime", "is_filterable": True},
        "size": {"type": "int", "is_filterable": True},
    }
    with FakeMessages(polite) as server:
        llm = ModelSettings(api_key=server.key, base_url=server.url)
        with engine.open(tmp_path / "data", settings=EngineSettings(llm=llm)) as quarry:
            quarry.upsert("papers", many, schema=schema)
            quarry.search("papers", **COSTS, filters={"size": {"$lt": 2_050}})
        plan = next(received for received in server.requests if step_of(received) == "plan")
    assert "size (int): 0 to 2049\n" in plan.user
    assert "at (datetime): 2020-01-01 to 2020-01-01T00:00:00.002049Z\n" in plan.user


def test_names_that_stand_nowhere_are_told_to_the_answer(tmp_path: Path) -> None:
    def names(received: Received) -> Act:
        asked = {"text": "Did Velmor pay for the bridge?", "entities": ["Velmor"]}
        if step_of(received) == "plan":
            return Answer({"sub_questions": [asked], "queries": [], "shape": "fact"})
        return polite(received)

    with opened(tmp_path, names) as (quarry, server):
        quarry.search("papers", objective="Did Velmor pay for the Pellam bridge?", context="c")
        shown = {step_of(received): received.user for received in server.requests}
    assert "Name that stands in no document: Velmor" in shown["answer"]
