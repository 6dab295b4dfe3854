"""What is installed is what is here: a server runs on what the wheel holds, and on nothing beside it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.serving import Api, ProcessServer

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_serves(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(installed)
    (entry,) = installed.glob("*.dist-info/entry_points.txt")
    assert "quarry = api.cli.main:main" in entry.read_text()
    with ProcessServer(tmp_path, installed=installed, PYTHONPATH=str(installed)) as server, Api(server.url) as api:
        assert api.get("/healthz").json() == {"status": "ok"}
        assert api.get("/readyz").status_code == 200
        assert api.upload("n", *ARTICLES, schema=SCHEMA).status_code == 200
        assert api.search("n").json()["status"] == "completed"
        for page in ("/console", "/docs", "/openapi.json"):
            assert api.get(page, follow_redirects=True).status_code == 200
