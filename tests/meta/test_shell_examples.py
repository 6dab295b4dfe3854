"""Commands about files and requests of the README run as they stand there, against files that are made here."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.api.serving import ROOT_KEY, Api, ProcessServer

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)

UNSUITED = ("--watch", "quarry serve", "--url")
"""Parts of commands that go on until they are interrupted, or ask a server elsewhere; tests of their own run them."""


def lines_of(page: str) -> list[str]:
    """Commands of a page, one an entry, without the unsuited."""
    blocks = _BLOCK.findall((ROOT / page).read_text())
    assert blocks
    joined = "\n".join(blocks).replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    return [line for line in lines if not any(part in line for part in UNSUITED)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the files that the pages speak of, and nothing of the environment that runs the tests."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "meeting.md").write_text("# Budget\n\nWe decided that the budget buys the movable ramp.\n")
    (tmp_path / "products.csv").write_text("Nummer;name;price\n17;Rope;12.5\n18;Anchor;240\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("QUARRY_AGENT", "offline")
    for name in ("ANTHROPIC_API_KEY", "QUARRY_DATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_commands_about_files_run_in_order(home: Path) -> None:
    lines = lines_of("docs/files.md")
    assert len(lines) >= 3
    for line in lines:
        words = [
            word.replace("~", str(home), 1) if word.startswith("~/") else word
            for word in shlex.split(line, comments=True)
        ]
        assert words[0] == "quarry", line
        done = CliRunner().invoke(main, words[1:], input="")
        assert done.exit_code == 0, f"{line}\n{done.output}"


def test_the_requests_of_the_readme_are_answered(tmp_path: Path) -> None:
    """A server with the key of the page; then the page's own curl lines, at the port that was free."""
    commands = [line for line in lines_of("README.md") if line.startswith("curl")]
    assert len(commands) == 2
    with ProcessServer(tmp_path, QUARRY_API_KEY="choose-a-long-secret") as server:
        script = "\n".join(commands).replace("localhost:8000", server.url.removeprefix("http://"))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={"QUARRY_API_KEY": "choose-a-long-secret", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
    assert '"documents_upserted":1' in done.stdout
    assert "after the storm" in done.stdout


def test_the_drill_of_the_operations_page_and_the_remote_commands_work(tmp_path: Path) -> None:
    """A server with a namespace is asked from afar and backed up; the copy is restored, checked and asked."""
    (drill,) = (b for b in _BLOCK.findall((ROOT / "docs" / "operations.md").read_text()) if "quarry restore" in b)
    stopped, *rest = drill.splitlines()
    (running,) = (line for line in rest if line.startswith("curl"))
    after = [line for line in rest if line.startswith("quarry")]
    (remote,) = (b for b in _BLOCK.findall((ROOT / "docs" / "commands.md").read_text()) if "--url" in b)

    def shell(*lines: str) -> str:
        script = "\n".join(lines)
        for written, real in (
            ("/var/lib/quarry-new", str(tmp_path / "new")),
            ("/var/lib/quarry", str(tmp_path / "data")),
            ("/backups", str(tmp_path)),
            ("http://127.0.0.1:8000", server.url),
            ("http://localhost:8000", server.url),
            ("choose-a-long-secret", ROOT_KEY),
        ):
            script = script.replace(written, real)
        python = f'{sys.executable} -c "from api.cli.main import main; main()"'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f'quarry() {{ {python} "$@"; }}\n{script}'],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "KEY": ROOT_KEY, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ProcessServer(tmp_path, QUARRY_BACKUPS=str(tmp_path / "copies")) as server, Api(server.url) as client:
        assert client.upload("notes", {"id": "a", "body": "The ferry was cancelled by the storm."}).status_code == 200
        assert "by the storm" in shell(remote)
        assert '"namespaces":1' in shell(running)
    shell(stopped, *after)
    assert "by the storm" in shell(f"quarry search notes 'Why was the ferry cancelled?' --data {tmp_path / 'new'}")
