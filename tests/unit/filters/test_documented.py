"""The page on filters says what the code does: its schema, documents, tables and blocks are run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.errors import FilterError
from engine.filters.check import parse_filter
from engine.filters.decode import _OPERATORS
from engine.filters.evaluate import matches
from engine.model.checking import plan_upload
from engine.model.schema import Schema, decode_schema

PAGE = (Path(__file__).parents[3] / "docs" / "filters.md").read_text(encoding="utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
SCHEMA, DOCUMENTS = plan_upload(Schema(), decode_schema(BLOCKS[0]), BLOCKS[1])
OPERATORS = re.findall(r"^\| `(\{.*?\})` \| ([a-z, ]*?) ?\| .*\|$", PAGE, re.MULTILINE)
ERRORS = re.findall(r"^\| `(\{.*?\})` \| `([a-z_]+)` \| `(.+?)` \|$", PAGE, re.MULTILINE)


def found(raw: dict[str, Any]) -> list[str]:
    checked = parse_filter(raw, SCHEMA)
    assert checked is not None
    return [document.id for document in DOCUMENTS if matches(checked, {"id": document.id, **document.values})]


@pytest.mark.parametrize(("written", "expected"), OPERATORS)
def test_a_row_of_the_operators_matches_what_it_says(written: str, expected: str) -> None:
    assert found(json.loads(written)) == [name for name in expected.split(", ") if name]


@pytest.mark.parametrize(("written", "code", "path"), ERRORS)
def test_a_row_of_the_errors_is_refused_so(written: str, code: str, path: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(json.loads(written), SCHEMA)
    assert (refused.value.code, refused.value.path) == (code, path)


@pytest.mark.parametrize("block", BLOCKS[2:], ids=json.dumps)
def test_an_example_finds_something_and_not_everything(block: dict[str, Any]) -> None:
    assert 0 < len(found(block)) < len(DOCUMENTS)


def test_every_row_of_the_tables_was_read() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `{")]
    assert len(OPERATORS) + len(ERRORS) == len(rows)
    assert len(ERRORS) >= 10


def test_every_operator_is_in_a_row() -> None:
    shown = " ".join(written for written, _ in OPERATORS)
    aliases = {"$ne", "$nin"}
    logic = {"$or", "$nor", "$not"}
    assert {name for name in logic | set(_OPERATORS) - aliases if f'"{name}"' not in shown} == set()
