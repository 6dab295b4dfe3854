"""Identifiers: their rules, and how new ones are made."""

from __future__ import annotations

import re
import secrets

from engine.errors import InvalidDocument, InvalidRequest

MAX_DOCUMENT_ID = 64
_NAMESPACE = re.compile(r"[A-Za-z0-9\-_.]{1,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def check_namespace_name(name: object) -> str:
    """The name itself. Raises `InvalidRequest` unless it is 1–128 of ``A–Z a–z 0–9 - _ .``."""
    if not isinstance(name, str) or not _NAMESPACE.fullmatch(name):
        raise InvalidRequest(
            "A namespace name has 1 to 128 characters of A-Z, a-z, 0-9, '-', '_' and '.'.", path="namespace"
        )
    return name


def check_document_id(value: object, *, path: str) -> str:
    """The id itself. Raises `InvalidDocument` unless it is 1–64 characters, none a control, and not ``.`` or ``..``."""
    if not isinstance(value, str):
        found = "missing" if value is None else f"a {type(value).__name__}"
        raise InvalidDocument(f"A document needs an `id` that is a string; it is {found}.", path=path)
    if not 1 <= len(value) <= MAX_DOCUMENT_ID:
        raise InvalidDocument(f"A document id has 1 to {MAX_DOCUMENT_ID} characters, not {len(value):,}.", path=path)
    if _CONTROL.search(value):
        raise InvalidDocument("A document id must not hold control characters.", path=path)
    if value in {".", ".."}:
        raise InvalidDocument("A document id must not be `.` or `..`: clients resolve them in a path.", path=path)
    return value


def new_session_id() -> str:
    """``sess_`` and 22 URL-safe characters: 128 random bits."""
    return "sess_" + secrets.token_urlsafe(16)
