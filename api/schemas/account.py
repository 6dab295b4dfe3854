"""Who a key is, and what its company has used, on the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import msgspec

from api.schemas.wire import Timestamp, timestamp
from api.usage import UsageEvent


class Whoami(msgspec.Struct, frozen=True, rename="camel"):
    """The company of the key."""

    organization_id: str
    organization_name: str


class AskedObject(msgspec.Struct, frozen=True):
    """What a search was asked; the message of a continuation is its objective."""

    objective: str
    context: str


class AnsweredObject(msgspec.Struct, frozen=True):
    """What a search gave."""

    result_count: int


class UsageSearch(msgspec.Struct, frozen=True):
    """A search in short."""

    request: AskedObject
    response: AnsweredObject


class UsageObject(msgspec.Struct, frozen=True, kw_only=True):
    """A request that succeeded."""

    request_id: Annotated[str, msgspec.Meta(description="As in the header X-Request-Id of its answer.")]
    event_type: Annotated[str, msgspec.Meta(description="The operation, such as `search` or `upload_documents`.")]
    occurred_at: Timestamp
    namespace: str
    duration_ms: float
    search: Annotated[
        UsageSearch | msgspec.UnsetType, msgspec.Meta(description="Of searches and their continuations only.")
    ] = msgspec.UNSET

    @classmethod
    def of(cls, event: UsageEvent) -> UsageObject:
        """As `event` looks on the wire."""
        search = msgspec.UNSET
        if event.objective is not None:
            asked = AskedObject(event.objective, event.context or "")
            search = UsageSearch(asked, AnsweredObject(event.results))
        return cls(
            request_id=event.request_id,
            event_type=event.event_type,
            occurred_at=timestamp(datetime.fromtimestamp(event.at_ms / 1_000, UTC)),
            namespace=event.namespace,
            duration_ms=event.duration_ms,
            search=search,
        )


class UsageList(msgspec.Struct, frozen=True):
    """Events, newest first; `next_cursor` goes into `before` for the next page, null on the last."""

    results: list[UsageObject]
    next_cursor: int | None
