"""A tool that knows nothing of the server reads its OpenAPI document and tries to catch it breaking its word."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.serving import ROOT_KEY, Api

pytest.importorskip("schemathesis")


def test_the_server_keeps_what_its_description_promises(api: Api, articles: str) -> None:
    # The examples of the description speak of a namespace "articles", which the fixture makes.
    assert articles == "articles"
    run = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file"),
            *(str(Path(__file__).with_name("schemathesis.toml")), "run", f"{api.url}/openapi.json"),
            *("--header", f"Authorization: Bearer {ROOT_KEY}"),
            *("--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "1"),
            *("--max-time", "25", "--no-color"),
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    # Of more than thirty; on a busy machine the time ends before the last.
    tested = re.search(r"Tested: (\d+)", run.stdout)
    assert tested is not None
    assert int(tested[1]) >= 20
