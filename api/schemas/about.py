"""What a key is told of the server and of itself."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What requests are held to. 0 is no limit where it says so."""

    upload_bytes: int
    body_bytes: int
    documents_per_upload: int
    soft_seconds: Annotated[float, msgspec.Meta(description="A search stops looking and answers after this.")]
    hard_seconds: Annotated[float, msgspec.Meta(description="A search fails after this.")]
    requests_per_minute: Annotated[int, msgspec.Meta(description="For each key; 0 for no limit.")]
    searches_at_once: Annotated[int, msgspec.Meta(description="For each key; 0 for no limit.")]


class OwnKey(msgspec.Struct, frozen=True, kw_only=True):
    """The key of the request."""

    name: str
    company_name: str
    scopes: list[str]


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The server, as far as it concerns whoever uses it, and the key of the request."""

    version: str
    agent: Literal["offline", "claude"]
    models: Annotated[
        list[str],
        msgspec.Meta(description="The model that plans and writes, and the one that reads; empty for `offline`."),
    ]
    embedder: str
    limits: ServerLimits
    key: OwnKey
