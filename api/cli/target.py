"""What commands talk to: a data directory opened in this process, or a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import click
import msgspec

from api.cli.opened import opened
from api.files.engine_library import EngineLibrary
from api.files.store import Known
from api.settings import Place, from_environment
from engine import (
    DEFAULT_COMPANY,
    Definition,
    DocumentPage,
    Engine,
    Event,
    Hit,
    Scope,
    SearchRequest,
    SearchResponse,
    StatusEvent,
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


class Where(NamedTuple):
    """What the options of a command name.

    Attributes:
        url: of a server; None for the data directory.
        key: for the server; None takes QUARRY_API_KEY.
    """

    data: Place | None
    company: str
    url: str | None
    key: str | None


@contextmanager
def reached(where: Where, *, create: bool = False) -> Generator[Target]:
    """The target that `where` names.

    Args:
        create: whether a data directory is made where there is none.
    """
    if where.url is None:
        if where.key is not None:
            raise click.UsageError("--key goes with --url.")
        with opened(where.data, where.company, create=create) as quarry:
            yield OpenedTarget(quarry)
        return
    if where.data is not None or where.company != DEFAULT_COMPANY:
        raise click.UsageError("--url names a server; --data and --company are for a data directory.")
    # Imported here: what speaks HTTP and TLS would slow down every other command.
    from api.cli.remote import ServerTarget

    key = where.key or from_environment().api_key
    if key is None:
        raise click.UsageError("A server needs a key: --key, or QUARRY_API_KEY.")
    yield ServerTarget(where.url, key)


class OpenedTarget(EngineLibrary):
    """`Target` over an engine of this process."""

    def __init__(self, quarry: Engine) -> None:
        self._quarry = quarry

    def sizes(self) -> list[Size]:
        return [Size(s.name, s.documents, s.passages, s.storage_bytes) for s in self._quarry.stats()]

    def schema(self, namespace: str) -> dict[str, Definition]:
        return self._quarry.namespace(namespace).schema.definitions()

    def get(self, namespace: str, document_id: str) -> dict[str, Any]:
        return self._quarry.get(namespace, document_id)

    def drop(self, namespace: str) -> None:
        self._quarry.drop(namespace)

    def retrieve(self, namespace: str, text: str, k: int, filters: dict[str, Any] | None, mode: Mode) -> list[Hit]:
        return self._quarry.retrieve(namespace, text, k, filters, mode)

    def page(self, namespace: str, filters: dict[str, Any] | None, limit: int, cursor: str | None) -> DocumentPage:
        return self._quarry.documents(namespace, filters, limit, cursor)

    def search(self, namespace: str, request: SearchRequest, on_status: OnStatus) -> SearchResponse:
        asked = msgspec.structs.asdict(request)
        return asyncio.run(_last(self._quarry.stream(namespace, **asked), on_status))

    def resume(self, namespace: str, session_id: str, message: str, on_status: OnStatus) -> SearchResponse:
        return asyncio.run(_last(self._quarry.continue_stream(namespace, session_id, message=message), on_status))

    def create_key(self, name: str, scopes: Sequence[Scope] | None, expires_at: datetime | None) -> tuple[Key, str]:
        key, raw = self._quarry.keys.create(name, scopes, expires_at, "cli")
        return msgspec.convert(key, Key, from_attributes=True), raw

    def keys(self) -> list[Key]:
        return [msgspec.convert(key, Key, from_attributes=True) for key in self._quarry.keys.list()]

    def revoke_key(self, key_id: str) -> None:
        self._quarry.keys.revoke(key_id)


async def _last(started: Coroutine[Any, Any, AsyncGenerator[Event]], on_status: OnStatus) -> SearchResponse:
    response: SearchResponse | None = None
    async for event in await started:
        if isinstance(event, StatusEvent):
            on_status(event.message)
        else:
            response = event.response
    if response is None:
        raise RuntimeError("a search ended without a result")
    return response
