"""``quarry search --explain``: what was planned, searched, kept back and spent, at a terminal and piped."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest

import engine
from tests.fakes.messages_replies import Answer, Received
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of
from tests.faults.test_claude_search import COSTS, PAPERS, SCHEMA
from tests.unit.cli.running import at_terminal
from tests.unit.cli.running import invoked as quarry

ASKED = ("search", "papers", COSTS["objective"])
INVENTED = "Gloria Vance of the Orrin council objected to the costs of the bridge for many years in public."


def answer(received: Received) -> Answer:
    """An honest model but for a condition that the schema does not allow and a sentence with an invented name."""
    step = step_of(received)
    reply = honest(step, received)
    if step == "plan":
        wanted = {"attribute": "mood", "operator": "any_of", "values": ["angry"]}
        papers = {"attribute": "newspaper", "operator": "any_of", "values": ["Coastal Times"]}
        reply["queries"] = [
            {"text": "costs of the Pellam bridge", "sub_question": 1, "mode": "hybrid", "conditions": [wanted, papers]}
        ]
        reply["shape"] = "comparison"
    if step == "answer":
        reply["sentences"].append({"text": INVENTED, "findings": [1], "computed": []})
    return Answer(reply, input_tokens=1_234, output_tokens=56, cache_read=7_000)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("explain") / "data"
    with engine.open(folder, agent="offline") as opened:
        opened.upsert("papers", PAPERS, SCHEMA)
    with FakeMessages(answer) as server:
        yield folder, {"ANTHROPIC_API_KEY": server.key, "ANTHROPIC_BASE_URL": server.url}


def test_it_tells_plan_queries_dropped_conditions_removals_and_tokens(asked: tuple[Path, dict[str, str]]) -> None:
    folder, model = asked
    shown = quarry(*ASKED, "--explain", data=folder, **model).stdout
    _, told = shown.split("\n\nPlan (comparison)\n")
    assert re.search(r"^  1\. Did the papers", told, re.MULTILINE)
    assert re.search(r"^  costs of the Pellam bridge  hybrid, round 1, \d hits?, \d new$", told, re.MULTILINE)
    assert '    only {"newspaper":{"$in":["Coastal Times"]}}\n' in told
    assert re.search(r"Conditions that the schema does not allow\n  .*mood", told)
    assert re.search(r"^1 round, \d passages read, \d with evidence, \d statements? checked$", told, re.MULTILINE)
    assert f"  sentence, left out: {INVENTED}\n    the name " in told
    assert re.search(r"^  step +calls  outcome +in  out  cached  stored$", told, re.MULTILINE)
    assert re.search(r"^  answer +1  ok +1,234 +56 +7,000 +0$", told, re.MULTILINE)
    calls = int(re.search(r"^  (\d+) calls, [\d,]+ tokens$", told, re.MULTILINE)[1])  # type: ignore[index]
    assert f"{calls} calls, {calls * 8_290:,} tokens" in told


def test_piped_it_is_never_wrapped_and_has_no_colour(asked: tuple[Path, dict[str, str]]) -> None:
    folder, model = asked
    shown = quarry(*ASKED, "--explain", data=folder, **model).stdout
    assert f"  sentence, left out: {INVENTED}\n" in shown
    assert "\x1b[" not in shown


def test_at_80_columns_it_fits(asked: tuple[Path, dict[str, str]]) -> None:
    folder, model = asked
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", at_terminal(*ASKED, "--explain", data=folder, **model))
    assert max(map(len, shown.splitlines())) <= 80
    assert INVENTED in " ".join(shown.split())


def test_json_has_it_as_a_field_only_when_it_is_asked_for(asked: tuple[Path, dict[str, str]]) -> None:
    folder, model = asked
    without = json.loads(quarry(*ASKED, "--json", data=folder, **model).stdout)
    told = json.loads(quarry(*ASKED, "--json", "--explain", data=folder, **model).stdout)["explain"]
    assert "explain" not in without
    assert [removal["text"] for removal in told["removed"]] == [INVENTED]
    assert told["calls"][0]["cache_read"] == 7_000


def test_offline_it_tells_what_there_is(asked: tuple[Path, dict[str, str]]) -> None:
    shown = quarry(*ASKED, "--explain", data=asked[0]).stdout
    assert "\nQueries\n" in shown
    assert "\nModel\n" not in shown
    assert "Done by rules" not in shown


def test_a_server_is_not_asked_for_it(asked: tuple[Path, dict[str, str]]) -> None:
    done = quarry(*ASKED, "--explain", "--url", "http://127.0.0.1:9", "--key", "x" * 8, data=None)
    assert done.returncode == 2
    assert "--explain needs a data directory" in done.stderr
