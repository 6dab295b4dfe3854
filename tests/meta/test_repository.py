"""The repository's own rules."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import engine
from engine import errors

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "engine").rglob("*.py"), *(ROOT / "api").rglob("*.py")])
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAX_LINES = 400
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def error_classes() -> list[type[errors.QuarryError]]:
    return [v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, errors.QuarryError)]


def test_the_public_names_are_exactly_those_that_are_imported() -> None:
    public = {n for n, v in vars(engine).items() if not n.startswith("_") and not isinstance(v, ModuleType)}
    assert sorted(engine.__all__) == sorted(public - {"annotations"})


def test_every_error_stands_in_the_tree_of_its_module() -> None:
    assert [c.__name__ for c in error_classes() if c.__name__ not in (errors.__doc__ or "")] == []


def test_leaf_errors_that_the_api_names_have_codes_of_their_own() -> None:
    leaves = [c for c in error_classes() if not c.__subclasses__()]
    codes = [c.code for c in leaves]
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    targets = [t for t in _LINK.findall(page.read_text()) if "://" not in t and not t.startswith("mailto:")]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_decisions_are_numbered_without_holes() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_stay_small_and_say_what_they_own(source: Path) -> None:
    text = source.read_text()
    assert len(text.splitlines()) <= MAX_LINES
    assert ast.get_docstring(ast.parse(text)), "a module begins with a sentence on what it owns"


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("duckdb", "engine/storage"),
        ("tantivy", "engine/lexical/"),
        ("hnswlib", "engine/vector/hnsw"),
        ("anthropic", "engine/llm/claude"),
        ("wordllama", "engine/embedding/wordllama"),
        ("tokenizers", "engine/embedding/"),
        ("safetensors", "engine/embedding/"),
        ("litestar", "api/"),
        ("openai", ("engine/embedding/openai", "engine/llm/openai")),
        ("fastembed", "engine/embedding/fastembed"),
        ("mcp", "api/integrations/mcp_server"),
        ("langchain_core", "api/integrations/langchain"),
        ("llama_index", "api/integrations/llama_index"),
        ("uvicorn", "api/"),
    ],
)
def test_a_library_is_imported_in_one_place(library: str, allowed: str | tuple[str, ...]) -> None:
    importing = re.compile(rf"^\s*(?:import|from)\s+{library}\b", re.MULTILINE)
    found = [str(p.relative_to(ROOT)) for p in SOURCES if importing.search(p.read_text())]
    assert [p for p in found if not p.startswith(allowed)] == []


def test_importing_the_engine_loads_no_server_and_no_model_client() -> None:
    code = "import sys, engine; print([m for m in ('litestar', 'uvicorn', 'anthropic', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
