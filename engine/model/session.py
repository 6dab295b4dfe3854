"""A search session between its turns, as every store keeps it; its state is opaque here."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import msgspec

SessionStatus = Literal["open", "running", "failed"]

TOMBSTONE = timedelta(days=7)
"""How long an expired session still answers that it has expired."""

MAX_SESSIONS = 10_000
"""Sessions of one company; beyond, those that were used least recently go."""


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as stored."""

    id: str
    company_id: int
    namespace_id: int
    state: bytes
    status: SessionStatus
