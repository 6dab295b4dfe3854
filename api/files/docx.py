"""DOCX: a part for each heading, tables as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from api.files.archives import opened_archive
from api.files.extras import library
from api.files.office import office_properties, office_text, translated_office_errors
from api.files.pieces import Part, Source
from api.files.sections import Block, sections

_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)


def read_docx(source: Source) -> Iterator[Part]:
    """Sections under the paragraphs that have a heading style; a table row is a line, its cells joined by ``|``."""
    opened_archive(source)
    docx = library("docx")
    with translated_office_errors():
        source.file.seek(0)
        document = docx.Document(source.file)
        attributes = {"title": source.stem} | office_properties(document.core_properties)
        blocks = list(_blocks(document))
    yield from sections(blocks, attributes)


def _blocks(document: Any) -> Iterator[Block]:
    for element in document.iter_inner_content():
        if hasattr(element, "rows"):
            yield Block(0, office_text(element))
            continue
        # The names of built-in styles are English in files of every language.
        style = str(element.style.name if element.style is not None else "")
        if found := _HEADING.fullmatch(style):
            yield Block(int(found[1]), element.text)
        else:
            yield Block(1 if style == "Title" else 0, element.text)
