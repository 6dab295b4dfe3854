"""A real collection through the command line, the server and the public client; needs the evaluation data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

charcoal = pytest.importorskip("charcoal", reason="the public client is a development dependency")

DATA = Path(os.getenv("QUARRY_BENCH_DATA", str(Path(__file__).resolve().parents[3] / "shared" / "data")))
COLLECTION = DATA / "multihop_rag"
KEY = "a-long-enough-key-for-the-test"
FILTERABLE = {"type": "string", "is_filterable": True}
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "source": FILTERABLE,
    "category": FILTERABLE,
    "author": FILTERABLE,
    "published_at": {"type": "datetime", "is_filterable": True},
}

pytestmark = pytest.mark.skipif(not COLLECTION.exists(), reason=f"no evaluation data in {DATA}")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from api.cli.main import main; main()", *arguments]


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    lines = (COLLECTION / "documents.jsonl").read_text().splitlines()
    return {d["id"]: d for d in map(json.loads, lines)}


@pytest.fixture(scope="module")
def questions() -> list[str]:
    lines = (COLLECTION / "queries.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines[:: len(lines) // 10][:10]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    folder = tmp_path_factory.mktemp("collection")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("QUARRY_", "ANTHROPIC_"))}
    environment |= {"QUARRY_DATA": str(folder / "data"), "QUARRY_API_KEY": KEY, "QUARRY_PORT": "0"}
    ingested = subprocess.run(
        command("ingest", "news", str(COLLECTION / "documents.jsonl"), "--schema", json.dumps(SCHEMA), "--json"),
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        check=False,
    )
    assert ingested.returncode == 0, ingested.stderr
    assert json.loads(ingested.stdout)["documents_upserted"] == 609
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command("serve"), stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.fullmatch(r"listening on (http://\S+)\n", line)
        assert found, line
        with charcoal.Charcoal(base_url=found[1], api_key=KEY, timeout=60) as opened:
            yield opened
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close() if server.stdout else None


def assert_checkable(response: Any, documents: dict[str, dict[str, Any]]) -> None:
    """Every excerpt stands in its document, every marker points at a result, every result is cited."""
    for result in response.results:
        texts = [v for v in documents[result.id].values() if isinstance(v, str)]
        assert 1 <= len(result.excerpts) <= 5
        assert all(any(excerpt in text for text in texts) for excerpt in result.excerpts)
    cited = {int(n) for n in re.findall(r"\[(\d+)\]", response.synthesis)}
    assert cited == set(range(1, len(response.results) + 1))
    assert response.synthesis


def test_ten_questions_are_answered_with_excerpts_that_stand_in_their_documents(
    client: Any, documents: dict[str, dict[str, Any]], questions: list[str]
) -> None:
    answers = [client.namespaces.search.create("news", objective=q, context=q) for q in questions]
    assert {a.status for a in answers} == {"completed"}
    for answer in answers:
        assert_checkable(answer, documents)
    assert sum(bool(a.results) for a in answers) >= 5


def test_a_streamed_answer_is_the_plain_one_behind_its_progress(
    client: Any, documents: dict[str, dict[str, Any]], questions: list[str]
) -> None:
    for question in questions[:3]:
        plain = client.namespaces.search.create("news", objective=question, context=question)
        events = list(client.namespaces.search.create("news", objective=question, context=question, stream=True))
        assert {e.type for e in events[:-1]} == {"status"}
        assert events[-1].type == "session_result"
        assert_checkable(events[-1], documents)
        assert (events[-1].synthesis, events[-1].results) == (plain.synthesis, plain.results)


def test_a_source_filter_holds_for_every_result(
    client: Any, documents: dict[str, dict[str, Any]], questions: list[str]
) -> None:
    seen = 0
    for question in questions:
        answer = client.namespaces.search.create(
            "news", objective=question, context=question, filters={"source": {"$in": ["TechCrunch", "The Verge"]}}
        )
        assert_checkable(answer, documents)
        assert {documents[r.id]["source"] for r in answer.results} <= {"TechCrunch", "The Verge"}
        seen += len(answer.results)
    assert seen > 0


def test_include_attributes_adds_the_document_as_it_was_sent(
    client: Any, documents: dict[str, dict[str, Any]], questions: list[str]
) -> None:
    answers = [
        client.namespaces.search.create("news", objective=q, context=q, include_attributes=True) for q in questions
    ]
    results = [result for answer in answers for result in answer.results]
    assert results
    for result in results:
        given = dict(result.attributes)
        expected = documents[result.id]
        assert given in (expected, {k: v for k, v in expected.items() if k != "id"})
