"""Pieces of a file to documents: ids from paths, names mapped, long texts cut."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from api.files.pieces import Part, Record

MAX_ID = 64
MAX_BODY = 400_000
"""Characters of one document's text. Longer ones are cut: the engine refuses documents of more than 8 MB, and nobody
reads a citation of a document of a thousand pages."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DIGEST = 16

_FILTERED_TEXT = {"type": "string", "is_searchable": False, "is_filterable": True}
_MOMENT = {"type": "datetime", "is_filterable": True}
_NUMBER = {"type": "int", "is_filterable": True}

FILE_SCHEMA: Mapping[str, Mapping[str, Any]] = {
    "path": _FILTERED_TEXT,
    "author": {"type": "string", "is_filterable": True},
    "from": {"type": "string", "is_filterable": True},
    "to": {"type": "[]string", "is_filterable": True},
    "thread": _FILTERED_TEXT,
    "message_id": {"type": "string", "is_searchable": False},
    "url": {"type": "string", "is_searchable": False},
    "sheet": {"type": "string", "is_filterable": True},
    "date": _MOMENT,
    "created": _MOMENT,
    "modified": _MOMENT,
    "page": _NUMBER,
    "slide": _NUMBER,
    "row": _NUMBER,
    "chapter": _NUMBER,
    "part": _NUMBER,
}
"""What the converters know of a file, as the namespace's schema has it."""


def readable_name(name: str) -> str:
    r"""`name` as an id may hold it: control characters and bytes that are not UTF-8 as ``%XX``.

    >>> readable_name("caf\udce9/a.md")
    'caf%E9/a.md'
    """
    return _UNPRINTABLE.sub(_escaped, name)


def document_id(name: str) -> str:
    """`name` itself or, where it is longer than an id may be, its end and a digest of all of it."""
    if len(name) <= MAX_ID:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{digest}-{name[-(MAX_ID - _DIGEST - 1) :]}"


def part_documents(name: str, parts: Iterator[Part], *, have_root: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents of a file that people read, each with its anchor; the first is the root that the others name.

    The root carries the file's name as its id, the others the name and their anchor.

    Args:
        have_root: False for parts with nothing in common but the file, such as the messages of a mailbox.
    """
    root: str | None = None
    for part in parts:
        for number, body in enumerate(_cut(part.body), 1):
            anchor = part.anchor if number == 1 else f"{part.anchor}~{number}"
            is_root = have_root and root is None
            made = document_id(name if is_root else f"{name}#{anchor}")
            document: dict[str, Any] = {"id": made, **part.attributes, "path": name}
            if number > 1:
                document["part"] = number
            if root is not None:
                document["root_document_id"] = root
            elif is_root:
                root = made
            yield anchor, document | {"body": body}


def record_document(record: Record, name: str, names: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
    """The record with its attributes renamed and an ``id``; whether the id was a number, which becomes its text.

    Args:
        names: old name to new one; an empty new name leaves the attribute out.
    """
    document = renamed(record.document, names)
    given = document.get("id")
    if given is None:
        return {"id": document_id(f"{name}:{record.line}"), **{k: v for k, v in document.items() if k != "id"}}, False
    if type(given) is int:
        return document | {"id": str(given)}, True
    return document, False


def renamed(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """`document` with attributes called as `names` says.

    >>> renamed({"Nr": 7, "note": "x", "body": "y"}, {"Nr": "id", "note": ""})
    {'id': 7, 'body': 'y'}
    """
    if not names:
        return dict(document)
    return {new: value for old, value in document.items() if (new := names.get(old, old))}


def _escaped(character: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in character[0].encode(errors="surrogateescape"))


def _cut(body: str) -> Iterator[str]:
    """`body` in pieces of at most `MAX_BODY` characters, cut after a paragraph, else a line, else anywhere."""
    start = 0
    while len(body) - start > MAX_BODY:
        end = start + MAX_BODY
        for sign in ("\n\n", "\n", " "):
            found = body.rfind(sign, start + MAX_BODY // 2, end)
            if found > 0:
                end = found + len(sign)
                break
        yield body[start:end]
        start = end
    if body[start:].strip():
        yield body[start:]
