"""``quarry ingest`` as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.serving import ROOT_KEY, Api, ProcessServer, wait_until
from tests.unit.cli.running import COMMAND, environment, quarry


def test_what_is_refused_is_named_and_the_rest_is_stored(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "1"}\n{"id": true}\n{"id": 3}\n')
    (tmp_path / "x.png").write_bytes(b"")
    done = quarry("ingest", "notes", str(tmp_path), "--report", str(tmp_path / "report"), data=tmp_path / ".data")
    assert done.returncode == 1
    assert done.stdout == "2 documents in notes\n"
    for words in ("skipped 1: ", "unknown kind .png 1", "refused 1:", "bad.jsonl:2: ", "whole numbers"):
        assert words in done.stderr
    assert json.loads((tmp_path / "report").read_text())["refused"][0]["place"] == "bad.jsonl:2"
    again = quarry("ingest", "notes", str(tmp_path / "bad.jsonl"), "--json", data=tmp_path / ".data")
    assert json.loads(again.stdout)["refused_count"] == 1


def test_watch_stores_what_changes_until_it_is_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    code = "import api.cli.ingest as i; i.WATCH_SECONDS = 0.1; from api.cli.main import main; main()"
    watching = subprocess.Popen(
        [sys.executable, "-c", code, "ingest", "notes", str(folder), "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"QUARRY_DATA": str(tmp_path / "data")},
    )
    assert watching.stdout is not None
    assert watching.stdout.readline() == "1 document in notes\n"
    (folder / "b.txt").write_text("two")
    assert watching.stdout.readline() == "1 document in notes (1 unchanged file)\n"
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert errors.endswith("stopped\n")


def test_a_server_is_fed_as_a_data_directory_is(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# One\n\nx\n\n# Two\n\ny\n")
    (folder / "rows.csv").write_text("id,year\n1,2024\n2,soon\n")
    (folder / "bad.jsonl").write_text('{"id": true}\n{"id": "3"}\n')
    schema = json.dumps({"year": {"type": "int", "is_filterable": True}})
    (tmp_path / "server").mkdir()
    with ProcessServer(tmp_path / "server") as server:

        def ingest(*more: str) -> subprocess.CompletedProcess[str]:
            arguments = ("ingest", "notes", str(folder), "--url", server.url, "--key", ROOT_KEY, *more)
            return quarry(*arguments, data=None, HOME=str(tmp_path))

        first = ingest("--schema", schema)
        assert first.stdout == "4 documents in notes\n"
        assert "rows.csv:3: year is of type int" in first.stderr
        assert "bad.jsonl:1: " in first.stderr
        (folder / "a.md").write_text("# Two\n\ny\n")
        assert ingest("--schema", schema).stdout.startswith("3 documents in notes (1 removed)")
        (folder / "a.md").unlink()
        assert "1 removed" in ingest("--schema", schema, "--prune").stdout
    gone = ingest()
    assert gone.returncode == 1
    assert "cannot be reached" in gone.stderr


@pytest.mark.parametrize("loss", ["server", "key"])
def test_a_run_that_loses_its_server_or_its_key_says_what_is_stored_and_goes_on_later(
    tmp_path: Path, loss: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    made = 20_000
    rows.write_text("".join(f'{{"id": "{n}", "body": "Row {n} of the ferry\'s log."}}\n' for n in range(made)))
    (tmp_path / "server").mkdir()
    with ProcessServer(tmp_path / "server") as server, Api(server.url) as client:
        key = client.post("/v1/api_keys", json={"name": "ingest"}).json()

        def stored() -> int:
            sizes = client.get("/v1/namespaces/stats").json()["results"]
            return sum(each["document_count"] for each in sizes)

        run = subprocess.Popen(
            [*COMMAND, "ingest", "logs", str(rows), "--url", server.url, "--key", key["raw_key"]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(None, HOME=str(tmp_path)),
        )
        wait_until(lambda: stored() > 0, 120)
        if loss == "server":
            server.stop(signal.SIGKILL)
        else:
            assert client.delete(f"/v1/api_keys/{key['api_key']['id']}").status_code == 200
        _, errors = run.communicate(timeout=300)
        assert run.returncode == 1
        assert "the same command goes on from here" in errors
        assert ("cannot be reached" if loss == "server" else "invalid_api_key") in errors
        assert "Traceback" not in errors
        if loss == "server":
            server.start()
            client.base_url = server.url
        assert 0 < stored() < made
        again = quarry(
            "ingest", "logs", str(rows), "--url", server.url, "--key", ROOT_KEY, data=None, HOME=str(tmp_path)
        )
        assert (again.returncode, stored()) == (0, made), again.stderr
