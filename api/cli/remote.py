"""A server, spoken to over ``/v1`` with the standard library alone."""

from __future__ import annotations

import hashlib
import http.client
import ssl
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

import click
import msgspec

from api.cli.target import Key, Mode, OnStatus, ServerError, Size
from api.files.store import Known
from engine import (
    Definition,
    DocumentNotFound,
    DocumentPage,
    Failure,
    Hit,
    InvalidDocument,
    NamespaceNotFound,
    Scope,
    SearchRequest,
    SearchResponse,
)

TIMEOUT_S = 120.0
"""Of silence. A search sends a comment every few seconds and ends within a minute."""


class ServerTarget:
    """`Target` over a server; one connection a request.

    Args:
        url: such as ``https://quarry.example.com``; a path in front of ``/v1`` may follow.
        key: an API key; it decides the company.
    """

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError as error:
            raise click.UsageError(f"--url takes an address such as http://localhost:8000, not {url}.") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise click.UsageError(f"--url takes an address such as http://localhost:8000, not {url}.")
        self._url = url
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, port
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "User-Agent": "quarry-cli"}

    def sizes(self) -> list[Size]:
        found = self._call("GET", "/namespaces/stats")["results"]
        return [Size(s["name"], s["document_count"], s["passage_count"], s["storage_bytes"]) for s in found]

    def schema(self, namespace: str) -> dict[str, Definition]:
        found = self._call("GET", f"/namespaces/{_named(namespace)}")
        return msgspec.convert(found["attributes_schema"], dict[str, Definition])

    def get(self, namespace: str, document_id: str) -> dict[str, Any]:
        return self._call("GET", f"/namespaces/{_named(namespace)}/documents/{_named(document_id)}")

    def delete(self, namespace: str, ids: Sequence[str], *, roots: bool) -> int:
        body = {"root_document_ids" if roots else "document_ids": list(ids)}
        return self._call("POST", f"/namespaces/{_named(namespace)}/documents/delete", body)["documents_deleted"]

    def described(self, namespace: str) -> Known | None:
        try:
            found = self._call("GET", f"/namespaces/{_named(namespace)}")
        except ServerError as error:
            if error.code == NamespaceNotFound.code:
                return None
            raise
        # Numbers of namespaces are those of one data directory, and another server may listen here tomorrow.
        told = f"{self._url} {found['id']} {found['created_at']}"
        identity = int.from_bytes(hashlib.sha256(told.encode()).digest()[:7], "big")
        schema = msgspec.convert(found["attributes_schema"], dict[str, Definition])
        return Known(identity, {name: definition.type for name, definition in schema.items()})

    def has(self, namespace: str, document_id: str) -> bool:
        try:
            self.get(namespace, document_id)
        except ServerError as error:
            if error.code == DocumentNotFound.code:
                return False
            raise
        return True

    def upsert(self, namespace: str, documents: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> int:
        body = {"documents": documents} | ({"schema": schema} if schema else {})
        try:
            return self._call("POST", f"/namespaces/{_named(namespace)}/documents", body)["documents_upserted"]
        except ServerError as error:
            if error.code == InvalidDocument.code:
                raise InvalidDocument(error.message, path=error.path) from error
            raise

    def drop(self, namespace: str) -> None:
        self._call("DELETE", f"/namespaces/{_named(namespace)}")

    def retrieve(self, namespace: str, text: str, k: int, filters: dict[str, Any] | None, mode: Mode) -> list[Hit]:
        body = {"text": text, "k": k, "filters": filters, "mode": mode}
        found = self._call("POST", f"/namespaces/{_named(namespace)}/retrieve", body)
        return msgspec.convert(found["hits"], list[Hit])

    def page(self, namespace: str, filters: dict[str, Any] | None, limit: int, cursor: str | None) -> DocumentPage:
        body = {"filters": filters, "limit": limit, "cursor": cursor}
        found = self._call("POST", f"/namespaces/{_named(namespace)}/documents/list", body)
        return DocumentPage(found["documents"], found["next_cursor"])

    def search(self, namespace: str, request: SearchRequest, on_status: OnStatus) -> SearchResponse:
        return self._stream(f"/namespaces/{_named(namespace)}/search", msgspec.structs.asdict(request), on_status)

    def resume(self, namespace: str, session_id: str, message: str, on_status: OnStatus) -> SearchResponse:
        path = f"/namespaces/{_named(namespace)}/search/{_named(session_id)}"
        return self._stream(path, {"message": message}, on_status)

    def create_key(self, name: str, scopes: Sequence[Scope] | None, expires_at: datetime | None) -> tuple[Key, str]:
        body = {"name": name, "scopes": None if scopes is None else list(scopes), "expires_at": expires_at}
        made = self._call("POST", "/api_keys", body)
        return _key(made["api_key"]), made["raw_key"]

    def keys(self) -> list[Key]:
        return [_key(found) for found in self._call("GET", "/api_keys")["api_keys"]]

    def revoke_key(self, key_id: str) -> None:
        self._call("DELETE", f"/api_keys/{_named(key_id)}")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer that is a success."""
        with self._answered(method, path, body) as answer:
            content = answer.read()
        try:
            return msgspec.json.decode(content)
        except msgspec.DecodeError as error:
            raise self._stranger(answer) from error

    def _stream(self, path: str, body: dict[str, Any], on_status: OnStatus) -> SearchResponse:
        kind = ""
        with self._answered("POST", path, body | {"stream": True}) as answer:
            for line in answer:
                name, _, value = line.rstrip(b"\r\n").partition(b": ")
                if name == b"event":
                    kind = value.decode()
                elif name == b"data" and kind == "status":
                    on_status(msgspec.json.decode(value)["message"])
                elif name == b"data" and kind == "session_result":
                    return msgspec.json.decode(value, type=SearchResponse)
                elif name == b"data" and kind == "error":
                    return _failed(msgspec.json.decode(value))
        raise ServerError(f"{self._url} ended the stream before the answer; ask again.")

    @contextmanager
    def _answered(self, method: str, path: str, body: Any) -> Generator[http.client.HTTPResponse]:
        """The answer to one request, read within the block. Raises `ServerError` for all that is no success."""
        connection = self._connection()
        try:
            headers = dict(self._headers)
            content = None
            if body is not None:
                content = msgspec.json.encode(body)
                headers["Content-Type"] = "application/json"
            connection.request(method, f"{self._prefix}/v1{path}", content, headers)
            answer = connection.getresponse()
            if not 200 <= answer.status < 300:
                raise self._refusal(answer)
            yield answer
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ServerError(f"{self._url} cannot be reached: {reason}. Does `quarry serve` run there?") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=TIMEOUT_S, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)

    def _refusal(self, answer: http.client.HTTPResponse) -> ServerError:
        try:
            error = msgspec.json.decode(answer.read())["error"]
            code, message, details = error["code"], error["message"], error["details"]
        except (msgspec.DecodeError, KeyError, TypeError):
            return self._stranger(answer)
        return ServerError(message, code, details[0]["path"] if details else "")

    def _stranger(self, answer: http.client.HTTPResponse) -> ServerError:
        return ServerError(f"{self._url} answered {answer.status} in a way that no Quarry server does.")


def _named(name: str) -> str:
    """One segment of a path."""
    return quote(name, safe="")


def _key(found: dict[str, Any]) -> Key:
    return msgspec.convert(found | {"prefix": found["key_prefix"], "suffix": found["key_suffix"]}, Key)


def _failed(event: dict[str, Any]) -> SearchResponse:
    """A search that failed after its stream had begun, as the engine would give it."""
    error = event.get("error", event)
    failure = Failure(error.get("code", "internal_error"), error.get("message", "The search failed."))
    return SearchResponse(session_id=event.get("session_id", ""), status="failed", error=failure)
