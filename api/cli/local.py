"""An engine of this process as the target of commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from datetime import datetime
from typing import Any

import msgspec

from api.cli.target import Key, Mode, OnStatus, Size
from api.files.engine_library import EngineLibrary
from engine import Definition, DocumentPage, Engine, Event, Hit, Scope, SearchRequest, SearchResponse, StatusEvent


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
