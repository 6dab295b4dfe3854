"""The server's pages in a real browser, which can reach nothing but the server."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.api.serving import Api
from tests.browser.conftest import CHROMIUM, QUIET


def chromium(profile: Path, *arguments: str) -> str:
    """What a headless browser prints; every host but this machine is unknown to it."""
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            *QUIET,
            f"--user-data-dir={profile}",
            "--virtual-time-budget=5000",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_documentation_page_shows_every_route_without_reaching_outside(api: Api, tmp_path: Path) -> None:
    shown = chromium(tmp_path, "--dump-dom", f"{api.url}/schema")
    document = api.get("/schema/openapi.json").json()
    missing = [path for path in document["paths"] if path not in shown]
    assert missing == []
    assert re.findall(r'(?:src|href)="(?:https?:)?//(?!127\.0\.0\.1)', shown) == []


def test_the_documentation_page_is_painted(api: Api, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    chromium(tmp_path / "profile", f"--screenshot={picture}", "--window-size=1200,900", f"{api.url}/schema")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    # A blank page of this size compresses to a few kilobytes.
    assert len(content) > 20_000
