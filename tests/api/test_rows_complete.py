"""Every row of the contract and the interface has a test, and every test that names a row names one that exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from tests.api.rows import ROWS
from tests.api.serving import PROJECT
from tests.api.test_rows_filters import CASES, REFUSED
from tests.api.test_rows_service import SHOWN

CONTRACT = PROJECT / "docs" / "contract.md"
INTERFACE = PROJECT / "docs" / "interface.md"

# Parts of the contract that are no tables: what they say, as rows.
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


OF_INTERFACE = "Interface: "


def named_rows() -> set[str]:
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.api.{path.stem}")
    return ROWS | {name for name, _, _ in [*CASES, *REFUSED]} | {f"{OF_INTERFACE}{name}" for name, _ in SHOWN}


def rows_of(text: str) -> set[str]:
    """The rows of all tables that begin with a subject, as ``Section: subject``."""
    rows: set[str] = set()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if "| Subject |" in body:
            cells = re.findall(r"^\| (.+?) \| ", body, re.MULTILINE)
            rows |= {f"{title}: {cell}" for cell in cells if cell != "Subject"}
    return rows


def rows_of_interface(text: str) -> set[str]:
    """The rows of all tables of resources, states, events and limits, and the endpoints."""
    rows: set[str] = set()
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if re.fullmatch("(GET|POST|DELETE) .*", title):
            rows.add(f"{OF_INTERFACE}Endpoints: {title}")
        if table := re.search(r"^\| (Field|State|Event|Subject) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", body, re.MULTILINE):
            cells = re.findall(r"^\| (.+?) \| ", table[2], re.MULTILINE)
            rows |= {f"{OF_INTERFACE}{title}: {cell}" for cell in cells}
    return rows


def test_every_row_of_the_interface_has_a_test_and_every_such_test_a_row() -> None:
    named = {name for name in named_rows() if name.startswith(OF_INTERFACE)}
    assert named == rows_of_interface(INTERFACE.read_text(encoding="utf-8"))


def test_every_row_has_a_test_and_every_such_test_a_row() -> None:
    expected = rows_of(CONTRACT.read_text(encoding="utf-8")) | IN_PROSE
    assert {name for name in named_rows() if not name.startswith(OF_INTERFACE)} == expected


def test_everything_that_stands_in_prose_has_a_test() -> None:
    assert named_rows() >= IN_PROSE
