"""XLSX: a part for each sheet, cut into parts of some hundred rows; a line a row, values beside their column's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from typing import Any

from api.files.archives import opened_archive
from api.files.extras import library
from api.files.office import office_properties, translated_office_errors
from api.files.pieces import Part, Source

ROWS_A_PART = 200
MAX_COLUMNS = 256
"""Cells of a row that are read; sheets that claim 16,384 columns hold nothing there."""


def read_xlsx(source: Source) -> Iterator[Part]:
    """Rows as lines ``column: value | column: value``, so that a row found alone says what its numbers are.

    The first row that has text in most of its cells names the columns. ``sheet`` and ``row``, the first of the part,
    are attributes. Formulas give the value that was computed when the file was saved.
    """
    opened_archive(source)
    openpyxl = library("openpyxl")
    with translated_office_errors():
        source.file.seek(0)
        book = openpyxl.load_workbook(source.file, read_only=True, data_only=True)
        attributes = {"title": source.stem} | office_properties(book.properties)
        for number, sheet in enumerate(book.worksheets, 1):
            yield from _sheet(sheet, number, attributes)


def _sheet(sheet: Any, number: int, attributes: dict[str, Any]) -> Iterator[Part]:
    # A file may claim any size of itself.
    sheet.reset_dimensions()
    columns: list[str] | None = None
    lines: list[str] = []
    first = 0
    shown = attributes | {"sheet": str(sheet.title), "heading": str(sheet.title)}
    for row_number, row in enumerate(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS), 1):
        cells = [_shown(value) for value in row]
        if not any(cells):
            continue
        if columns is None:
            columns = _columns(row, cells)
            if columns:
                continue
        lines.append(_line(columns or [], cells))
        first = first or row_number
        if len(lines) == ROWS_A_PART:
            yield Part(anchor=f"{number}-{first}", body="\n".join(lines), attributes=shown | {"row": first})
            lines, first = [], 0
    if lines or columns:
        body = "\n".join(lines) or " | ".join(columns or [])
        yield Part(anchor=f"{number}-{first}", body=body, attributes=shown | {"row": first or 1})


def _columns(row: Sequence[object], cells: Sequence[str]) -> list[str]:
    """The names that a first row gives; none when it is no header."""
    filled = [value for value in row if value is not None]
    texts = [value for value in filled if isinstance(value, str)]
    return list(cells) if len(texts) > 1 and len(texts) == len(filled) else []


def _line(columns: Sequence[str], cells: Sequence[str]) -> str:
    named = (
        f"{columns[number]}: {cell}" if number < len(columns) and columns[number] else cell
        for number, cell in enumerate(cells)
        if cell
    )
    return " | ".join(named)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:.12g}"
    return " ".join(str(value).split())
