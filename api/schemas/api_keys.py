"""API keys on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from api.schemas.wire import NOT_BLANK, Timestamp, timestamp
from engine import ApiKey, Scope


class KeyBody(msgspec.Struct, frozen=True, kw_only=True):
    """A key to make."""

    name: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=128, pattern=NOT_BLANK, description="For people.", examples=["indexer"]),
    ]
    scopes: Annotated[
        Annotated[list[Scope], msgspec.Meta(min_length=1)] | None,
        msgspec.Meta(
            description="What it may do; all but `admin` when left out. `admin` may do everything.",
            extra_json_schema={"examples": [["read", "search"]]},
        ),
    ] = None
    expires_at: Annotated[
        datetime | None,
        msgspec.Meta(
            description="Never when left out. Without an offset it is UTC.",
            extra_json_schema={"examples": ["2030-01-31T00:00:00Z"]},
        ),
    ] = None


class KeyObject(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret."""

    id: str
    name: str
    key_prefix: Annotated[str, msgspec.Meta(description="How the raw key begins.")]
    key_suffix: Annotated[str, msgspec.Meta(description="How the raw key ends.")]
    created_at: Timestamp
    created_by: Annotated[str, msgspec.Meta(description="Name of the key that made it.")]
    last_used_at: Timestamp | None
    scopes: list[Scope]
    expires_at: Timestamp | None

    @classmethod
    def of(cls, key: ApiKey) -> KeyObject:
        """As `key` looks on the wire."""
        return cls(
            id=key.id,
            name=key.name,
            key_prefix=key.prefix,
            key_suffix=key.suffix,
            created_at=timestamp(key.created_at),
            created_by=key.created_by or "cli",
            last_used_at=None if key.last_used_at is None else timestamp(key.last_used_at),
            scopes=list(key.scopes),
            expires_at=None if key.expires_at is None else timestamp(key.expires_at),
        )


class KeyCreated(msgspec.Struct, frozen=True):
    """The only answer that ever holds the raw key."""

    api_key: KeyObject
    raw_key: str


class KeyList(msgspec.Struct, frozen=True):
    """All keys of the company that were not deleted, oldest first."""

    api_keys: list[KeyObject]


class KeyDeleted(msgspec.Struct, frozen=True):
    """The key has stopped working."""

    success: bool = True
