"""``quarry ingest`` as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.api.serving import ROOT_KEY, ProcessServer
from tests.unit.cli.running import quarry


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
