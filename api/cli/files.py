"""Files and folders to documents, one at a time."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".md", ".markdown", ".txt")
MAX_ID = 64
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


class UnreadableFile(Exception):
    """A file cannot be read as what its name says; the message names file and line."""


class Origin(NamedTuple):
    """Where a document came from; `line` counts from 1, or is the position in a JSON array."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Found(NamedTuple):
    """A document and where it stood."""

    document: dict[str, Any]
    origin: Origin


def discover(paths: Sequence[Path]) -> list[Path]:
    """Readable files among `paths`; folders are walked, in order of name, hidden entries left out.

    Raises:
        UnreadableFile: a path does not exist, a named file has an unknown ending, or there is nothing to read.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += [
                child
                for child in sorted(path.rglob("*"))
                if child.is_file()
                and child.suffix.lower() in SUFFIXES
                and not any(part.startswith(".") for part in child.relative_to(path).parts)
            ]
        elif not path.exists():
            raise UnreadableFile(f"{path}: no such file or folder")
        elif path.suffix.lower() not in SUFFIXES:
            raise UnreadableFile(f"{path}: unknown kind of file; known are {' '.join(SUFFIXES)}")
        else:
            files.append(path)
    if not files:
        raise UnreadableFile(f"nothing to read; known kinds of file are {' '.join(SUFFIXES)}")
    return files


def read_documents(files: Sequence[Path], *, advance: Callable[[int], None]) -> Iterator[Found]:
    """Every document of `files`, in order; a document without `id` gets one made of its file's name and its place.

    Args:
        advance: told the bytes read since the last call.

    Raises:
        UnreadableFile: with file and line.
    """
    for path in files:
        kind = path.suffix.lower()
        if kind in (".jsonl", ".ndjson"):
            yield from _json_lines(path, advance)
            continue
        text = _text(path)
        if kind == ".json":
            yield from _json(path, text)
        elif kind in (".csv", ".tsv"):
            yield from _table(path, text, "\t" if kind == ".tsv" else ",")
        else:
            yield Found(_page(path, text), Origin(path, 1))
        advance(path.stat().st_size)


def _json_lines(path: Path, advance: Callable[[int], None]) -> Iterator[Found]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            advance(len(line))
            if line.strip():
                origin = Origin(path, number)
                yield Found(_object(_decode(line, origin), origin), origin)


def _json(path: Path, text: str) -> Iterator[Found]:
    for number, entry in enumerate(_entries(_decode(text.encode(), Origin(path, 1))), 1):
        origin = Origin(path, number)
        yield Found(_object(entry, origin), origin)


def _entries(value: Any) -> list[Any]:
    """A list of documents, the same under ``documents``, or one document alone."""
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value).get("documents")
        return cast("list[Any]", held) if isinstance(held, list) else [value]
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _table(path: Path, text: str, delimiter: str) -> Iterator[Found]:
    rows = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        for row in rows:
            origin = Origin(path, rows.line_num)
            if None in row:
                raise UnreadableFile(f"{origin}: more cells than columns")
            # An empty cell says that there is no value, which an empty string would not.
            yield Found(_with_id({k: v for k, v in row.items() if v}, origin), origin)
    except csv.Error as error:
        raise UnreadableFile(f"{path}:{rows.line_num}: {error}") from error


def _page(path: Path, text: str) -> dict[str, Any]:
    heading = _HEADING.search(text) if path.suffix.lower() != ".txt" else None
    name = path.as_posix()
    return {
        "id": name if len(name) <= MAX_ID else _shortened(name),
        "title": heading.group(1) if heading else path.stem,
        "path": name,
        "body": text,
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path}: not UTF-8 text at byte {error.start}") from error
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror}") from error


def _decode(raw: bytes, origin: Origin) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(f"{origin}: not JSON: {error}") from error


def _object(value: Any, origin: Origin) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableFile(f"{origin}: a document is a JSON object, not a {type(value).__name__}")
    return _with_id(cast("dict[str, Any]", value), origin)


def _with_id(document: dict[str, Any], origin: Origin) -> dict[str, Any]:
    if "id" in document:
        return document
    name = f"{origin.path.stem}-{origin.line}"
    return {"id": name if len(name) <= MAX_ID else _shortened(name), **document}


def _shortened(name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[-(MAX_ID - 17) :]}-{digest}"
