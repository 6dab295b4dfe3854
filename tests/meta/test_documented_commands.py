"""Every `quarry` command of the pages can be understood, and those of the quickstart work as they are pasted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from api.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ENDS = {"|", ">", ">>", "&", "&&", ";", "<"}
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def commands_of(page: Path) -> list[list[str]]:
    """The arguments of each `quarry` in the shell blocks of a page."""
    if "quarry()" in page.read_text():
        # A function of the page's own under the same name.
        return []
    found: list[list[str]] = []
    for block in _BLOCK.findall(page.read_text()):
        pending = ""
        for line in block.replace("\\\n", " ").splitlines():
            pending += line
            lexer = shlex.shlex(pending, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            try:
                words = list(lexer)
            except ValueError:
                # A quotation that goes on in the next line.
                pending += "\n"
                continue
            pending = ""
            found += _commands(words)
    return found


def _commands(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    current: list[str] | None = None
    for word in words:
        if word in _ENDS:
            current = None
        elif current is not None:
            current.append(word)
        elif word == "quarry" or word.endswith("/bin/quarry"):
            current = []
            found.append(current)
    return [arguments for arguments in found if arguments]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_can_be_understood(page: Path) -> None:
    for arguments in commands_of(page):
        command: click.Command = main
        rest = arguments
        while isinstance(command, click.Group):
            assert rest[0] in command.commands, arguments
            command, rest = command.commands[rest[0]], rest[1:]
        if rest not in (["--help"], ["-h"]):
            command.make_context(arguments[0], list(rest)).close()


def test_the_pages_have_commands_at_all() -> None:
    assert ["search", "notes", "What did we decide about the budget?"] in commands_of(ROOT / "docs" / "quickstart.md")


def test_the_commands_of_the_quickstart_work_as_they_are_pasted(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "budget.md").write_text("# Budget\n\nWe decided that the budget of the ferry is nine million.\n")
    (tmp_path / "reports.jsonl").write_text('{"id": "1", "body": "The storm closed the harbour.", "year": 2023}\n')
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "quarry"
    shim.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from api.cli.main import main; main()' \"$@\"\n")
    shim.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("QUARRY_", "ANTHROPIC_"))}
    environment = kept | {
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    blocks = _BLOCK.findall((ROOT / "docs" / "quickstart.md").read_text())
    shown = ""
    for block in (block for block in blocks if "quarry ingest" in block):
        done = subprocess.run(
            ["sh", "-e", "-c", block],
            cwd=tmp_path,
            env=environment,
            input="",
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    assert "nine million" in shown
    assert "The storm closed the harbour." in shown
