"""Plain text and source code: one part a file."""

from __future__ import annotations

from collections.abc import Iterator

from api.files.decoding import text_of
from api.files.pieces import Part, Source


def read_text(source: Source) -> Iterator[Part]:
    """The whole file under its own name."""
    yield Part(anchor="", body=text_of(source), attributes={"title": source.stem})


def read_code(source: Source) -> Iterator[Part]:
    """As `read_text`; the title keeps the file's ending, which tells a header from its implementation."""
    yield Part(anchor="", body=text_of(source), attributes={"title": source.name.rsplit("/", 1)[-1]})
