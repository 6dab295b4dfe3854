"""JSON and JSON Lines: documents as they are to be stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import msgspec

from api.files.decoding import text_of
from api.files.pieces import Record, Refusal, Source, UnreadableFile

MAX_LINE = 64 * 2**20
"""Bytes of one line. A document has at most 8 MB, so a longer line is a file of another kind."""


def read_json_lines(source: Source) -> Iterator[Record | Refusal]:
    """A document a line; blank lines are passed over."""
    for number, line in enumerate(_lines(source.file), 1):
        if line is None:
            yield Refusal(str(number), f"a line of more than {MAX_LINE // 2**20} MiB")
        elif line.strip():
            yield _record(line, number)


def read_json(source: Source) -> Iterator[Record | Refusal]:
    """A list of documents, the same under ``documents``, or one document alone."""
    try:
        value: object = msgspec.json.decode(text_of(source))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnreadableFile(f"not JSON: {_why(error)}") from error
    for number, entry in enumerate(_entries(value), 1):
        yield _checked(entry, number)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines of `file`; None for one that is too long to be held."""
    file.seek(0)
    first = True
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield None
        else:
            yield line.removeprefix(b"\xef\xbb\xbf") if first else line
        first = False


def _entries(value: object) -> list[Any]:
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value).get("documents")
        return cast("list[Any]", held) if isinstance(held, list) else [value]
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _record(line: bytes, number: int) -> Record | Refusal:
    try:
        return _checked(msgspec.json.decode(line), number)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return Refusal(str(number), f"not JSON: {_why(error)}")


def _checked(value: object, number: int) -> Record | Refusal:
    if not isinstance(value, dict):
        return Refusal(str(number), f"a document is a JSON object, not {_KINDS.get(type(value), 'this')}")
    return Record(cast("dict[str, Any]", value), number)


_KINDS: dict[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    type(None): "null",
}


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeError):
        return "not UTF-8"
    return str(error).removeprefix("JSON is malformed: ")
