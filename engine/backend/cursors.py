"""Cursors of paged lists: the namespace's epoch and the last key, so that a list never mixes two builds."""

from __future__ import annotations

import base64
import binascii

from engine.errors import InvalidRequest

PAGE_BYTES = 16 * 2**20
"""A page ends before its documents are larger; a document that is larger alone is a page of its own."""


def encode_cursor(epoch: str, key: int) -> str:
    """Opaque to clients."""
    return base64.urlsafe_b64encode(f"{epoch}.{key}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str, epoch: str) -> int:
    """The key that a page ended at.

    Raises:
        InvalidRequest: no page gave it, or the namespace was built anew since.
    """
    try:
        text = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    given, _, key = text.rpartition(".")
    if not (key.isascii() and key.isdigit() and len(key) < 19) or encode_cursor(given, int(key)) != cursor:
        raise InvalidRequest("`cursor` is not one that a list of documents gave.", path="cursor")
    if given != epoch:
        raise InvalidRequest("The namespace was built anew since this page was given. List it anew.", path="cursor")
    return int(key)
