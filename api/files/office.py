"""What DOCX, PPTX and XLSX have in common: properties, tables, faults."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from api.files.pieces import SkippedFile, UnreadableFile


@contextmanager
def translated_office_errors() -> Generator[None]:
    """Raise `UnreadableFile` for whatever the block fails of: the libraries have no error of their own for damage."""
    try:
        yield
    except (UnreadableFile, SkippedFile):
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UnreadableFile("damaged: a part cannot be unpacked") from error
    except Exception as error:
        raise UnreadableFile(f"damaged ({type(error).__name__})") from error


def office_properties(properties: Any) -> dict[str, Any]:
    """Title, author and dates as the program that wrote the file knows them."""
    found = {
        "title": properties.title,
        "author": getattr(properties, "author", None) or getattr(properties, "creator", None),
        "created": _iso(properties.created),
        "modified": _iso(properties.modified),
    }
    return {name: str(value).strip() for name, value in found.items() if value and str(value).strip()}


def office_text(table: Any) -> str:
    """A table as text: a line a row, cells joined by ``|``; cells that span columns stand once."""
    lines: list[str] = []
    for row in table.rows:
        cells: list[str] = []
        before: Any = None
        for cell in row.cells:
            element = getattr(cell, "_tc", cell)
            if element is not before:
                cells.append(" ".join(str(cell.text).split()))
            before = element
        if any(cells):
            lines.append(" | ".join(cells))
    return "\n".join(lines)


def _iso(moment: object) -> str | None:
    return moment.isoformat() if isinstance(moment, datetime) else None
