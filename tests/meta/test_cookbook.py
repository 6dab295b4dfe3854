"""The pages of the cookbook run as they stand: Python and shell, in order, in an empty folder, without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "cookbook").glob("*.md"))
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)

SAID = {
    "notes": ["The breakwater waits until 2026", "Joris takes over the timetable"],
    "mail": ["The money comes from the harbour fund", "sails at ten only"],
    "code": ["five times at most", "with_backoff"],
}
"""What the commands of a page must print; pages of Python hold assertions of their own."""


def shell(script: str, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("QUARRY_", "ANTHROPIC_"))}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "QUARRY_AGENT": "offline",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem != "index"], ids=lambda p: p.stem)
def test_a_page_of_the_cookbook_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    blocks = _BLOCK.findall(page.read_text())
    assert blocks
    session: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for language, block in blocks:
        if language == "sh":
            printed += shell(block, tmp_path)
        else:
            exec(compile(block, page.name, "exec"), session)
    for text in SAID.get(page.stem, []):
        assert text in " ".join(printed.split())


def test_every_page_of_the_cookbook_is_in_its_contents() -> None:
    contents = (ROOT / "docs" / "cookbook" / "index.md").read_text()
    assert [page.name for page in PAGES if page.stem != "index" and f"({page.name})" not in contents] == []
