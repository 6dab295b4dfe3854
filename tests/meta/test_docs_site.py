"""The documentation site: built strictly, with everything in it, needing nothing from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ZENSICAL = Path(sys.executable).with_name("zensical")

pytestmark = pytest.mark.skipif(not ZENSICAL.exists(), reason="the extra docs is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does, of a copy of the sources."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "engine"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", folder)
    target = folder / "docs" / "reference" / "http.md"
    subprocess.run([sys.executable, "-m", "tools.http_reference", str(target)], cwd=ROOT, check=True, timeout=60)
    done = subprocess.run(
        [str(ZENSICAL), "build", "--strict"], cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_site_is_built_strictly_and_its_search_knows_every_page(site: Path) -> None:
    index = json.loads((site / "search.json").read_text())
    known = {item["location"].split("#")[0] for item in index["items"]}
    pages = {str(p.relative_to(ROOT / "docs").with_suffix(".html")) for p in (ROOT / "docs").rglob("*.md")}
    assert pages - known == set()


def test_the_library_and_http_are_documented_from_the_code(site: Path) -> None:
    library = (site / "reference" / "library.html").read_text()
    assert 'id="engine.Engine.retrieve"' in library
    assert "Raises" in library
    http = (site / "reference" / "http.html").read_text()
    assert "POST /v1/namespaces/{namespace}/search" in http
    assert "documents_scanned" in http


def test_nothing_of_the_site_comes_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe|source)[^>]*\ssrc="(https?:)?//|<link[^>]*\shref="(https?:)?//')
    # The theme names fonts and pictures of its own; links that a reader may follow are something else.
    assert [str(p.relative_to(site)) for p in site.rglob("*.html") if loaded.search(p.read_text())] == []


def test_every_page_is_in_the_menu_or_a_decision() -> None:
    menu = yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    pages = [p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")]
    assert [str(p) for p in pages if p.parts[0] != "decisions" and str(p) not in menu] == []
