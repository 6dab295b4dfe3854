"""What commands ask, whoever answers: a data directory opened in this process, or a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from api.files.store import Known
from engine import (
    Definition,
    DocumentPage,
    Hit,
    Scope,
    SearchRequest,
    SearchResponse,
)

Mode: TypeAlias = Literal["hybrid", "lexical", "vector", "planned"]
OnStatus: TypeAlias = Callable[[str], None]
"""Takes what a search says of its progress."""


class ServerError(Exception):
    """A server refused, failed, or is not there; the message is one sentence.

    Attributes:
        message: without the code.
        code: the wire code of the error; empty where no Quarry server answered.
        path: what in the request it speaks of; empty for nothing in particular.
    """

    def __init__(self, message: str, code: str = "", path: str = "") -> None:
        where = f"{code} at {path}" if path else code
        super().__init__(f"{message} ({where})" if code else message)
        self.message = message
        self.code = code
        self.path = path


class Size(msgspec.Struct, frozen=True):
    """How large a namespace is."""

    name: str
    documents: int
    passages: int
    storage_bytes: int


class Key(msgspec.Struct, frozen=True):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    suffix: str
    scopes: Sequence[Scope]
    created_at: datetime
    last_used_at: datetime | None = None
    expires_at: datetime | None = None


class Target(Protocol):
    """Namespaces, documents and keys of one company.

    Methods raise `QuarryError`, or `ServerError` from a server.
    """

    def sizes(self) -> list[Size]:
        """By name."""
        ...

    def schema(self, namespace: str) -> dict[str, Definition]: ...

    def get(self, namespace: str, document_id: str) -> dict[str, Any]: ...

    def delete(self, namespace: str, ids: Sequence[str], *, roots: bool) -> int:
        """How many documents went; with `roots` those whose root is named too."""
        ...

    def described(self, namespace: str) -> Known | None:
        """What an ingestion must know of a namespace; None where there is none."""
        ...

    def has(self, namespace: str, document_id: str) -> bool: ...

    def upsert(self, namespace: str, documents: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> int:
        """Distinct ids written. Raises `InvalidDocument` with the path of the fault."""
        ...

    def drop(self, namespace: str) -> None: ...

    def retrieve(self, namespace: str, text: str, k: int, filters: dict[str, Any] | None, mode: Mode) -> list[Hit]: ...

    def page(self, namespace: str, filters: dict[str, Any] | None, limit: int, cursor: str | None) -> DocumentPage: ...

    def search(self, namespace: str, request: SearchRequest, on_status: OnStatus) -> SearchResponse: ...

    def resume(self, namespace: str, session_id: str, message: str, on_status: OnStatus) -> SearchResponse:
        """The next turn of a session."""
        ...

    def create_key(self, name: str, scopes: Sequence[Scope] | None, expires_at: datetime | None) -> tuple[Key, str]:
        """The key, and its raw form, which is nowhere else."""
        ...

    def keys(self) -> list[Key]: ...

    def revoke_key(self, key_id: str) -> None: ...
