"""Every promise of the guarantees names what holds it, and what is named is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
TESTS = DOCS.parent / "tests"
PROMISES = [
    line
    for line in (DOCS / "guarantees.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| promise", "| fault")) and line.count("](../tests/")
]
_NAMED = re.compile(r"`(?:tests/)?([\w/]*test_\w+\.py|contracts/\w+\.py)(?:::(\w+))?`")
_LINK = re.compile(r"\]\(\.\./(tests/[\w/]+\.py)\)")


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", PROMISES)
def test_a_promise_names_tests_that_are_there(row: str) -> None:
    linked = _LINK.findall(row)
    assert linked
    for path in linked:
        source = (DOCS.parent / path).read_text()
        # A contract suite is taken over by a class of tests, a machine by its `TestCase`.
        assert any(kind in source for kind in ("def test_", "class Test", "TestCase")), path


def test_no_row_of_the_tables_goes_without_a_test() -> None:
    """Rows of the table of faults are what a command printed."""
    tables = re.findall(r"\| promise .*?\n\n", (DOCS / "guarantees.md").read_text() + "\n\n", flags=re.DOTALL)
    rows = [line for table in tables for line in table.splitlines()[2:] if line]
    assert rows
    assert [row for row in rows if "](../tests/" not in row] == []


@pytest.mark.parametrize("page", ["guarantees.md", "security.md", "operations.md"])
def test_named_tests_exist(page: str) -> None:
    for name, function in _NAMED.findall((DOCS / page).read_text()):
        found = [path for path in TESTS.rglob(Path(name).name) if str(path).endswith(name)]
        assert found, name
        assert not function or any(function in functions_of(path) for path in found), function
