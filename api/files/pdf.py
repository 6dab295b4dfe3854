"""PDF: a part for each page that holds text, with its number."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from api.files.extras import library
from api.files.pieces import Part, Refusal, SkippedFile, Source, UnreadableFile

MAX_PDF = 512 * 2**20


def read_pdf(source: Source) -> Iterator[Part | Refusal]:
    """A part a page; ``page`` counts from 1 as a reader counts, whatever is printed on it.

    Raises:
        SkippedFile: no page holds text, as in a scan.
        UnreadableFile: damaged, or encrypted with a password.
    """
    source.content_fits(MAX_PDF)
    pypdf = library("pypdf")
    # It warns of each fault that it mends.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    source.file.seek(0)
    if b"%PDF" not in source.file.read(1024):
        raise UnreadableFile("damaged: it does not begin as a PDF")
    reader = _opened(pypdf, source)
    attributes = {"title": source.stem, **_properties(reader)}
    found = False
    for number in range(1, len(reader.pages) + 1):
        try:
            text: str = reader.pages[number - 1].extract_text()
        except Exception as error:  # noqa: BLE001 - a broken page fails in every way; the others may be whole
            yield Refusal(f"page {number}", f"cannot be read ({type(error).__name__})")
            continue
        if text.strip():
            found = True
            yield Part(anchor=f"p{number}", body=text, attributes=attributes | {"page": number})
    if not found:
        raise SkippedFile("no text on its pages; a scan needs text recognition first")


def _opened(pypdf: Any, source: Source) -> Any:
    source.file.seek(0)
    try:
        reader = pypdf.PdfReader(source.file)
        # Most encrypted files open with the empty password: they only forbid printing.
        is_open = not reader.is_encrypted or bool(reader.decrypt(""))
        if is_open:
            len(reader.pages)
    except pypdf.errors.DependencyError as error:
        raise UnreadableFile(
            "encrypted with AES, which needs the extra 'files': pip install 'quarry-search[files]'"
        ) from error
    except Exception as error:
        raise UnreadableFile(f"damaged ({type(error).__name__})") from error
    if not is_open:
        raise UnreadableFile("encrypted with a password")
    return reader


def _properties(reader: Any) -> dict[str, Any]:
    try:
        properties = reader.metadata
        found = {
            "title": properties.title,
            "author": properties.author,
            "created": _iso(properties.creation_date),
            "modified": _iso(properties.modification_date),
        }
    except Exception:  # noqa: BLE001 - properties are written by every program in its own way; the text is what counts
        return {}
    return {name: str(value).strip() for name, value in found.items() if value and str(value).strip()}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
