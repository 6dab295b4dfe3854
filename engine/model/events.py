"""What a search emits, in the order a client may rely on.

search = status* (session_result | search_failed)
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from engine.model.search import SearchResponse


class StatusEvent(msgspec.Struct, frozen=True, tag_field="type", tag="status"):
    """Progress in words a person reads."""

    message: str


class SessionResult(msgspec.Struct, frozen=True, tag_field="type", tag="session_result"):
    """The run ended: completed, or with a clarification."""

    response: SearchResponse


class SearchFailed(msgspec.Struct, frozen=True, tag_field="type", tag="search_failed"):
    """The run began and could not finish; `response.error` says why."""

    response: SearchResponse


Event: TypeAlias = StatusEvent | SessionResult | SearchFailed
