"""The examples of the HTTP page run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.serving import PROJECT, ROOT_KEY, Api

PAGE = PROJECT / "docs" / "http.md"


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="needs curl and bash")
def test_the_examples_of_the_http_page_run_in_order(api: Api, tmp_path: Path) -> None:
    examples = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 7
    environment = os.environ | {"QUARRY_URL": api.url, "QUARRY_KEY": ROOT_KEY}
    script = "set -euo pipefail\n" + "\necho\n".join(examples)
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for expected in ('{"documents_upserted":3}', "event: session_result", '{"documents_deleted":2}', '"raw_key":"'):
        assert expected in run.stdout
