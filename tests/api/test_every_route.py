"""What holds for every route, taken from the OpenAPI document so that no route is forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app, operations
from api.settings import Settings
from tests.api.serving import ROOT_KEY, Api, ProcessServer, error_of

APP = create_app(Settings(data=Path("never-opened")))
ENTRIES = operations(APP)
KEYED = [entry for entry in ENTRIES if entry.operation.scope is not None]
OPEN = [entry for entry in ENTRIES if entry.operation.scope is None]
SCOPES = {
    "any": {"whoami"},
    "search": {"search", "continue_search"},
    "write": {"upload_documents", "upload_file", "delete_documents", "delete_documents_by_post", "delete_namespace"},
    "read": {
        "get_document",
        "random_document",
        "list_namespaces",
        "namespace_stats",
        "get_namespace",
        "attribute_values",
        "about",
        "retrieve",
        "list_documents",
        "list_documents_by_post",
        "list_usage_events",
        "get_usage_event",
    },
    "admin": {"create_api_key", "list_api_keys", "delete_api_key", "metrics", "backup"},
}


def url_of(path: str) -> str:
    return re.sub(r"{\w+}", "anything", path)


def ids(entries: list[Any]) -> list[str]:
    return [entry.operation.id for entry in entries]


def test_every_route_needs_the_scope_that_it_should() -> None:
    assert {scope: {e.operation.id for e in KEYED if e.operation.scope == scope} for scope in SCOPES} == SCOPES
    assert set(ids(OPEN)) == {
        "healthz",
        "readyz",
        "openapi",
        "schema_openapi",
        "schema",
        "docs",
        "root",
        "console",
        "console_file",
    }


@pytest.mark.parametrize("entry", KEYED, ids=ids(KEYED))
def test_every_route_refuses_whoever_has_no_valid_key(api: Api, entry: Any) -> None:
    url = f"{api.url}{url_of(entry.path)}"
    for header, code in (
        (None, "unauthenticated"),
        ("Basic x", "unauthenticated"),
        ("Bearer wrong-key-altogether", "invalid_api_key"),
        (f"Bearer {ROOT_KEY[:-1]}", "invalid_api_key"),
        (f"Bearer {ROOT_KEY}x", "invalid_api_key"),
    ):
        headers = {} if header is None else {"Authorization": header}
        # A body that is wrong in every way: who has no key learns nothing of it.
        answer = httpx.request(entry.method, url, headers=headers, content=b"\xff{")
        assert error_of(answer) == (401, code)


SCOPED = [entry for entry in KEYED if entry.operation.scope != "any"]


@pytest.mark.parametrize("entry", SCOPED, ids=ids(SCOPED))
def test_every_route_refuses_keys_without_its_scope(api: Api, entry: Any) -> None:
    scopes = [scope for scope in ("read", "search", "write") if scope != entry.operation.scope]
    answer = api.with_key(api.new_key(scopes=scopes)).request(entry.method, url_of(entry.path))
    assert error_of(answer) == (403, "permission_denied")


# `root` answers browsers only; `console_file` takes the name of a file.
WHOLE = [entry for entry in OPEN if entry.operation.id not in {"root", "console_file"}]


@pytest.mark.parametrize("entry", WHOLE, ids=ids(WHOLE))
def test_open_routes_answer_anyone(api: Api, entry: Any) -> None:
    assert api.with_key(None).request(entry.method, entry.path).status_code == 200


@pytest.mark.parametrize("entry", ENTRIES, ids=ids(ENTRIES))
def test_every_answer_carries_the_security_headers(api: Api, entry: Any) -> None:
    for answer in (
        api.request(entry.method, url_of(entry.path)),
        api.with_key(None).request(entry.method, url_of(entry.path)),
        api.request("PATCH", url_of(entry.path)),
    ):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Request-Id"].startswith("req_")
        assert answer.headers.get_list("Cache-Control") != []
        assert "Server" not in answer.headers


def test_doubled_slashes_do_not_get_around_authentication(server: ProcessServer) -> None:
    with httpx.Client(base_url=server.url) as nobody:
        for path in ("//v1/namespaces", "/v1//namespaces", "/%76%31/namespaces", "/v1/namespaces/"):
            answer = nobody.request("GET", httpx.URL(server.url).copy_with(raw_path=path.encode()))
            assert answer.status_code in {401, 404}
            assert "results" not in answer.text


@pytest.mark.parametrize(
    "entry", [e for e in KEYED if e.operation.body], ids=ids([e for e in KEYED if e.operation.body])
)
def test_every_route_with_a_body_refuses_other_media_types(api: Api, entry: Any) -> None:
    for kind in ("text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json-patch+json"):
        answer = api.request(entry.method, url_of(entry.path), content=b"{}", headers={"Content-Type": kind})
        assert error_of(answer) == (415, "unsupported_media_type")
