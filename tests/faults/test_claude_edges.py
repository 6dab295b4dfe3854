"""The command line and the server on the Claude steps: the settings reach the model, and its faults reach no client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx
import pytest

import engine
from tests.fakes.messages_replies import Act, Answer, Received, Refuse
from tests.fakes.messages_server import FakeMessages
from tests.fakes.obedient import honest, step_of
from tests.faults.test_claude_search import COSTS, PAPERS, SCHEMA, polite

QUARRY = str(Path(sys.executable).with_name("quarry"))


def environment(server: FakeMessages, data: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": server.key,
        "QUARRY_DATA": str(data),
        "QUARRY_API_KEY": "root-key",
        "QUARRY_PORT": "0",
    }


def quarry(server: FakeMessages, data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [QUARRY, *arguments], env=environment(server, data), capture_output=True, text=True, timeout=120, check=False
    )


@contextmanager
def served(server: FakeMessages, data: Path, log: IO[str]) -> Iterator[httpx.Client]:
    process = subprocess.Popen(
        [QUARRY, "serve"],
        env=environment(server, data),
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = next(line for line in process.stdout if "listening on" in line).split()[-1]
        with httpx.Client(base_url=url, headers={"Authorization": "Bearer root-key"}, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=30)


def upload(client: httpx.Client) -> None:
    body = {"documents": PAPERS, "schema": SCHEMA}
    assert client.post("/v1/namespaces/papers/documents", json=body).status_code == 200


def events(client: httpx.Client, **body: Any) -> list[tuple[str, dict[str, Any]]]:
    answer = client.post("/v1/namespaces/papers/search", json={**COSTS, "stream": True, **body})
    assert answer.status_code == 200
    found: list[tuple[str, dict[str, Any]]] = []
    for frame in answer.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the papers, made without a model."""
    folder = tmp_path_factory.mktemp("data") / "d"
    with engine.open(folder, agent="offline") as quarry_:
        quarry_.upsert("papers", PAPERS, schema=SCHEMA)
    return folder


def test_the_command_line_asks_the_model_at_the_address_of_the_environment(data: Path) -> None:
    with FakeMessages(polite) as server:
        done = quarry(server, data, "search", "papers", COSTS["objective"], "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {"gazette-1", "times-1"} <= {result["id"] for result in answer["results"]}
    assert "Planning the search" in done.stderr
    assert [step_of(received) for received in server.requests] == ["plan", "read", "answer"]


def test_check_names_a_key_that_does_not_work_and_fails(data: Path) -> None:
    with FakeMessages(lambda _: Refuse(401, "authentication_error")) as server:
        done = quarry(server, data, "check")
    assert done.returncode == 1
    assert "claude-sonnet-5-5: The model service does not accept the API key (401)." in done.stdout + done.stderr


def test_a_stream_over_http_ends_with_the_cited_answer_and_no_client_learns_of_a_bad_key(tmp_path: Path) -> None:
    bad = False

    def script(received: Received) -> Act:
        if bad:
            return Refuse(401, "authentication_error")
        return Answer(honest(step_of(received), received))

    log = (tmp_path / "log").open("w+")
    with log, FakeMessages(script) as server, served(server, tmp_path / "d", log) as client:
        upload(client)
        *progress, (name, result) = events(client)
        assert {kind for kind, _ in progress} == {"status"}
        assert name == "session_result"
        assert {"gazette-1", "times-1"} <= {finding["id"] for finding in result["results"]}
        assert "rules and extraction" not in result["synthesis"]
        bad = True
        name, result = events(client)[-1]
        assert (name, result["status"]) == ("session_result", "completed")
        assert result["synthesis"].count("rules and extraction") == 1
        assert not any(word in json.dumps(result) for word in ("401", "API key", "authentication"))


def test_a_server_starts_with_a_bad_key_and_warns_of_it_in_its_log(tmp_path: Path) -> None:
    with (
        (tmp_path / "log").open("w+") as log,
        FakeMessages(lambda _: Refuse(401, "authentication_error")) as server,
    ):
        with served(server, tmp_path / "d", log) as client:
            assert client.get("/healthz").status_code == 200
            server.wait_for(2)
        log.seek(0)
        written = log.read()
    assert "language model: claude-sonnet-5-5: The model service does not accept the API key (401)." in written
    assert server.key not in written
