"""Every command of ``quarry`` on a database: it works there, or says what takes its place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from api.cli.main import main
from tests.postgres import database_of
from tests.unit.cli.running import invoked

pytestmark = pytest.mark.xdist_group("shared")

SECRET = "swordfish"
BOATS = [
    {"id": "ferry", "body": "The ferry sails at nine from the old harbour.", "line": "north"},
    {"id": "tug", "body": "The tug tows barges up the river all winter.", "line": "south"},
]
QUESTION = "When does the ferry sail?"
WORKS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "ingest": (("boats", "BOATS"), "", "2"),
    "namespaces": ((), "", "boats"),
    "schema": (("boats",), "", "line"),
    "documents": (("boats",), "", "ferry"),
    "get": (("boats", "ferry"), "", "nine"),
    "search": (("boats", QUESTION), "", "nine"),
    "retrieve": (("boats", "tows barges"), "", "tug"),
    "chat": (("boats",), QUESTION + "\n", "nine"),
    "export": (("boats",), "", '"id":"ferry"'),
    "keys": (("create", "mine"), "", "qk_"),
    "reindex": (("boats",), "", "2"),
    "check": ((), "", ""),
    "mcp": ((), "", ""),
    "delete": (("boats", "tug"), "", "1"),
    "demo": ((), "", "temporary"),
    "config": ((), "", "postgresql://"),
    "completion": (("bash",), "", "quarry"),
}
"""Arguments, standard input, and a part of what is said, in the order in which they are run."""
REFUSED = {
    "backup": (("COPY",), "pg_dump"),
    "repair": ((), "restore a backup of the database"),
    "restore": (("COPY",), "quarry move"),
}
ELSEWHERE = {"serve", "move"}
"""Run on databases by the other tests of this package."""


def test_every_command_works_on_a_database_or_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"{database_of(tmp_path)}&password={SECRET}"
    boats = tmp_path / "boats.jsonl"
    boats.write_text("\n".join(map(json.dumps, BOATS)))
    # All modules take a minute.
    monkeypatch.setattr("api.cli.demo.module_names", lambda: ["tempfile"])
    monkeypatch.setattr(sys, "argv", ["quarry"])
    named = {"BOATS": str(boats), "COPY": str(tmp_path / "copy")}
    assert WORKS.keys() | REFUSED.keys() | ELSEWHERE == main.commands.keys()
    for command, (arguments, stdin, said) in WORKS.items():
        given = [named.get(argument, argument) for argument in arguments]
        place = ["--data", where] if command == "demo" else []
        done = invoked(command, *given, *place, data=None, stdin=stdin, QUARRY_DATA=where)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert said in done.stdout + done.stderr, (command, done.stdout, done.stderr)
        assert SECRET not in done.stdout + done.stderr, command
    for command, (arguments, instead) in REFUSED.items():
        done = invoked(command, *(named[argument] for argument in arguments), data=None, QUARRY_DATA=where)
        assert done.returncode == 1, command
        assert instead in " ".join(done.stderr.split()), (command, done.stderr)
