"""Every row of the decisions has a test, and every test that names a row names one that exists."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path

import pytest

from tests.api.rows import ROWS
from tests.api.serving import PROJECT
from tests.api.test_rows_filters import CASES, REFUSED
from tests.api.test_rows_service import SHOWN

SHARED = Path(os.environ.get("QUARRY_BENCH_DATA", str(PROJECT.parent / "shared" / "data"))).parent
DECISIONS = SHARED / "spec" / "decisions.md"
SERVICE = SHARED / "spec" / "service.md"

# Parts of the decisions that are no tables: what they say, as rows.
IN_PROSE = {
    "Errors: one body",
    "Errors: request id",
    "Errors: codes",
    "Errors: unknown fields",
    "Filters: grammar",
    *(f"Filters: rule {number}" for number in range(1, 10)),
    "Stream: errors before the stream",
    "Stream: headers",
    "Stream: frames",
    "Stream: type in the data",
    "Stream: order of events",
    "Stream: heartbeat",
    "Stream: a client that goes away",
    "Limits: body sizes",
    "Limits: one document",
    "Limits: attributes of a namespace",
    "Limits: rate limits",
    "Limits: searches at once",
    "Limits: media type",
    "Limits: deprecations",
}


OF_SERVICE = "service.md "


def named_rows() -> set[str]:
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.api.{path.stem}")
    return ROWS | {name for name, _, _ in [*CASES, *REFUSED]} | {f"{OF_SERVICE}{name}" for name, _ in SHOWN}


def rows_of(text: str) -> set[str]:
    """The rows of all tables that begin with a subject, as ``Section: subject``."""
    rows: set[str] = set()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if "| Subject |" in body:
            cells = re.findall(r"^\| (.+?) \| ", body, re.MULTILINE)
            rows |= {f"{title}: {cell}" for cell in cells if cell != "Subject"}
    return rows


def rows_of_service(text: str) -> set[str]:
    """The rows of all tables of resources, states, events and limits, and the endpoints."""
    rows: set[str] = set()
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if re.fullmatch("(GET|POST|DELETE) .*", title):
            rows.add(f"{OF_SERVICE}Endpoints: {title}")
        if table := re.search(r"^\| (Field|State|Event|Subject) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", body, re.MULTILINE):
            cells = re.findall(r"^\| (.+?) \| ", table[2], re.MULTILINE)
            rows |= {f"{OF_SERVICE}{title}: {cell}" for cell in cells}
    return rows


@pytest.mark.skipif(not SERVICE.exists(), reason="the specification is not beside the project")
def test_every_row_of_the_specification_has_a_test_and_every_such_test_a_row() -> None:
    named = {name for name in named_rows() if name.startswith(OF_SERVICE)}
    assert named == rows_of_service(SERVICE.read_text(encoding="utf-8"))


@pytest.mark.skipif(not DECISIONS.exists(), reason="the decisions are not beside the project")
def test_every_row_has_a_test_and_every_such_test_a_row() -> None:
    expected = rows_of(DECISIONS.read_text(encoding="utf-8")) | IN_PROSE
    assert {name for name in named_rows() if not name.startswith(OF_SERVICE)} == expected


def test_everything_that_stands_in_prose_has_a_test() -> None:
    assert named_rows() >= IN_PROSE
