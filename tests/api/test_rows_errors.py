"""Rows of the decisions: errors. Each code of the table is met at least once, with its status."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from api.errors import STATUS
from tests.api.rows import row
from tests.api.serving import Api, error_of, error_path

JSON = {"Content-Type": "application/json"}
DEEP = b'{"objective":"x","context":"x","filters":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}"
SEARCH = "/v1/namespaces/articles/search"
UPLOAD = "/v1/namespaces/never-made/documents"

Ask = Callable[[Api], httpx.Response]


def post(path: str, content: Any = None, **options: Any) -> Ask:
    if isinstance(content, (bytes, str)):
        return lambda api: api.post(path, content=content, **({"headers": JSON} | options))
    return lambda api: api.post(path, json=content, **options)


def ask(method: str, path: str, **options: Any) -> Ask:
    return lambda api: api.request(method, path, **options)


BAD: list[tuple[str, Ask, int, str]] = [
    ("no JSON", post(SEARCH, b"{"), 400, "invalid_json"),
    ("empty body", post(SEARCH, b""), 400, "invalid_json"),
    ("blanks only", post(SEARCH, b"  "), 400, "invalid_json"),
    ("no body at all", ask("POST", SEARCH), 400, "invalid_request"),
    ("text after the value", post(SEARCH, b'{"objective":"x","context":"x"} {}'), 400, "invalid_json"),
    ("single quotes", post(SEARCH, b"{'objective': 'x'}"), 400, "invalid_json"),
    ("NaN", post(UPLOAD, b'{"documents":[{"id":"a","x":NaN}]}'), 400, "invalid_json"),
    ("a number beyond doubles", post(UPLOAD, b'{"documents":[{"id":"a","x":1e999}]}'), 400, "invalid_json"),
    ("half a surrogate pair", post(SEARCH, b'{"objective":"\\ud800","context":"x"}'), 400, "invalid_json"),
    ("invalid UTF-8", post(SEARCH, b'{"objective":"\xff\xfe","context":"x"}'), 400, "invalid_json"),
    ("invalid UTF-8 in a key", post(UPLOAD, b'{"documents":[{"id":"a","\xff":1}]}'), 400, "invalid_json"),
    ("a byte order mark", post(SEARCH, b'\xef\xbb\xbf{"objective":"x","context":"x"}'), 400, "invalid_json"),
    ("UTF-16", post(SEARCH, '{"objective":"x"}'.encode("utf-16")), 400, "invalid_json"),
    ("100,000 levels", post(SEARCH, DEEP), 400, "invalid_json"),
    ("100,000 open lists", post(UPLOAD, b'{"documents":' + b"[" * 100_000), 400, "invalid_json"),
    ("a list", post(SEARCH, []), 400, "invalid_request"),
    ("a text", post(SEARCH, b'"x"'), 400, "invalid_request"),
    ("null", post(SEARCH, b"null"), 400, "invalid_request"),
    ("no objective", post(SEARCH, {"context": "x"}), 400, "invalid_request"),
    ("no context", post(SEARCH, {"objective": "x"}), 400, "invalid_request"),
    ("objective of another type", post(SEARCH, {"objective": 1, "context": "x"}), 400, "invalid_request"),
    ("no documents", post(UPLOAD, {}), 400, "invalid_request"),
    ("documents not a list", post(UPLOAD, {"documents": {"id": "a"}}), 400, "invalid_request"),
    ("a document that is none", post(UPLOAD, {"documents": [{"id": "a"}, "b"]}), 400, "invalid_document"),
    ("no id", post(UPLOAD, {"documents": [{}]}), 400, "invalid_document"),
    ("id of 65 characters", post(UPLOAD, {"documents": [{"id": "x" * 65}]}), 400, "invalid_document"),
    ("schema not an object", post(UPLOAD, {"documents": [{"id": "a"}], "schema": []}), 400, "invalid_request"),
    ("unknown type", post(UPLOAD, {"documents": [{"id": "a"}], "schema": {"x": {"type": "y"}}}), 400, "invalid_schema"),
    ("10,001 documents", post(UPLOAD, {"documents": [{"id": "a"}] * 10_001}), 400, "too_many_documents"),
    ("bad namespace", post("/v1/namespaces/a%20b/documents", {"documents": [{"id": "a"}]}), 400, "invalid_request"),
    (
        "129 characters",
        post(f"/v1/namespaces/{'x' * 129}/documents", {"documents": [{"id": "a"}]}),
        400,
        "invalid_request",
    ),
    ("invalid UTF-8 in the path", ask("GET", "/v1/namespaces/%FF"), 400, "invalid_request"),
    (
        "unknown filter attribute",
        post(SEARCH, {"objective": "x", "context": "x", "filters": {"q": 1}}),
        400,
        "unknown_attribute",
    ),
    ("text as filter", post(SEARCH, {"objective": "x", "context": "x", "filters": "q"}), 400, "invalid_request"),
    (
        "attribute not filterable",
        post(SEARCH, {"objective": "x", "context": "x", "filters": {"title": "q"}}),
        400,
        "attribute_not_filterable",
    ),
    (
        "operand of another type",
        post(SEARCH, {"objective": "x", "context": "x", "filters": {"year": "q"}}),
        400,
        "filter_type_mismatch",
    ),
    (
        "schema conflict",
        post("/v1/namespaces/articles/documents", {"documents": [], "schema": {"year": {"type": "bool"}}}),
        400,
        "schema_conflict",
    ),
    ("unknown key scope", post("/v1/api_keys", {"name": "x", "scopes": ["all"]}), 400, "invalid_request"),
    ("blank key name", post("/v1/api_keys", {"name": " "}), 400, "invalid_request"),
    (
        "expiry in the past",
        post("/v1/api_keys", {"name": "x", "expires_at": "2020-01-01T00:00:00Z"}),
        400,
        "invalid_request",
    ),
    (
        "expiry beyond the calendar",
        post("/v1/api_keys", {"name": "x", "expires_at": "9999-12-31T23:59:59-23:00"}),
        400,
        "invalid_request",
    ),
    ("expiry not a moment", post("/v1/api_keys", {"name": "x", "expires_at": "soon"}), 400, "invalid_request"),
    ("unknown route", ask("GET", "/v1/nothing"), 404, "not_found"),
    ("unknown route outside /v1", ask("GET", "/nothing"), 404, "not_found"),
    ("the prefix", ask("GET", "/v1"), 404, "not_found"),
    ("another version", ask("GET", "/v2/namespaces"), 404, "not_found"),
    ("unknown document", ask("GET", "/v1/namespaces/articles/documents/none"), 404, "document_not_found"),
    ("unknown session", post(f"{SEARCH}/sess_x", {"message": "x"}), 404, "session_not_found"),
    ("unknown key id", ask("DELETE", "/v1/api_keys/none"), 404, "api_key_not_found"),
    ("unknown namespace", ask("GET", "/v1/namespaces/none"), 404, "namespace_not_found"),
    ("wrong method", ask("PUT", "/v1/namespaces"), 405, "method_not_allowed"),
    ("wrong method on search", ask("GET", SEARCH), 405, "method_not_allowed"),
    ("wrong method on a document", ask("PATCH", "/v1/namespaces/articles/documents/cats"), 405, "method_not_allowed"),
    ("text", post(SEARCH, b"{}", headers={"Content-Type": "text/plain"}), 415, "unsupported_media_type"),
    ("no media type", post(SEARCH, b"{}", headers={"Content-Type": ""}), 415, "unsupported_media_type"),
    (
        "JSON of a kind",
        post(SEARCH, b"{}", headers={"Content-Type": "application/jsonlines"}),
        415,
        "unsupported_media_type",
    ),
    ("a form", lambda api: api.post(SEARCH, data={"objective": "x"}), 415, "unsupported_media_type"),
    ("compressed", post(SEARCH, b"{}", headers=JSON | {"Content-Encoding": "gzip"}), 415, "unsupported_media_type"),
]


@row("Errors: one body")
@pytest.mark.parametrize(("bad", "status", "code"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_request_gets_its_status_and_code(api: Api, articles: str, bad: Ask, status: int, code: str) -> None:
    assert error_of(bad(api)) == (status, code)


@row("Errors: one body")
def test_nothing_of_a_bad_request_is_kept(api: Api, articles: str) -> None:
    assert error_of(api.get("/v1/namespaces/never-made")) == (404, "namespace_not_found")


@row("Errors: one body")
def test_a_wrong_method_is_told_the_right_ones(api: Api) -> None:
    assert set(api.put("/v1/namespaces").headers["Allow"].split(", ")) >= {"GET"}
    assert set(api.get("/v1/namespaces/x/search").headers["Allow"].split(", ")) >= {"POST"}


@row("Errors: one body")
def test_details_name_the_place_of_the_fault(api: Api, articles: str) -> None:
    answer = api.post(SEARCH, json={"objective": "x", "context": "x", "filters": {"$and": [{"year": {"$gt": "x"}}]}})
    assert error_path(answer).startswith("filters")
    assert "year" in error_path(answer)


@row("Errors: request id")
def test_a_request_id_is_in_header_and_body_and_new_each_time(api: Api) -> None:
    ids = [api.get("/v1/nothing").json()["error"]["request_id"] for _ in range(3)]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"req_[A-Za-z0-9_-]{22}", request_id) for request_id in ids)
    for path in ("/v1/namespaces", "/healthz", "/nothing"):
        assert re.fullmatch(r"req_[A-Za-z0-9_-]{22}", api.get(path).headers["X-Request-Id"])


@row("Errors: request id")
def test_a_request_id_of_ours_is_kept_and_any_other_is_not(api: Api) -> None:
    kept = api.get("/healthz", headers={"X-Request-Id": "req_0123456789abcdef"})
    assert kept.headers["X-Request-Id"] == "req_0123456789abcdef"
    for given in ("abc", "req_", "req_" + "x" * 65, "req_0123 456789"):
        assert api.get("/healthz", headers={"X-Request-Id": given}).headers["X-Request-Id"] != given


@row("Errors: codes")
def test_every_code_of_the_table_is_met_in_the_tests() -> None:
    elsewhere = {
        "unauthenticated",
        "invalid_api_key",
        "permission_denied",
        "payload_too_large",
        "session_busy",
        "session_failed",
        "session_expired",
        "rate_limited",
        "overloaded",
        "search_timeout",
        "invalid_filter",
        # Only faults inside and models that are gone lead to these: see tests/unit/api and tests/faults.
        "internal_error",
        "storage_error",
        "model_unavailable",
    }
    assert set(STATUS) == {case[3] for case in BAD} | elsewhere


@row("Errors: unknown fields")
def test_unknown_fields_at_the_top_are_ignored(api: Api, articles: str, fresh: str) -> None:
    answer = api.search(articles, unheard={"of": 1})
    assert (answer.status_code, answer.headers["X-Quarry-Ignored"]) == (200, "unheard")
    body = {"documents": [{"id": "a"}], "unheard": [1]}
    assert api.post(f"/v1/namespaces/{fresh}/documents", json=body).json() == {"documents_upserted": 1}


@row("Errors: one body")
def test_of_a_key_twice_the_last_wins(api: Api, fresh: str) -> None:
    body = b'{"documents":[{"id":"a","n":1,"n":2}],"documents":[{"id":"b","n":1,"n":2}]}'
    answer = api.post(f"/v1/namespaces/{fresh}/documents", content=body, headers=JSON)
    assert answer.json() == {"documents_upserted": 1}
    assert api.get(f"/v1/namespaces/{fresh}/documents/b").json() == {"id": "b", "n": 2}


@row("Limits: media type")
@pytest.mark.parametrize("value", ["application/json", "application/json; charset=utf-8", "Application/JSON ;x=y"])
def test_parameters_of_the_media_type_are_allowed(api: Api, articles: str, value: str) -> None:
    content = b'{"objective":"cats","context":"x"}'
    assert api.post(SEARCH, content=content, headers={"Content-Type": value}).status_code == 200


@row("Errors: one body")
@pytest.mark.parametrize("depth", [50, 100, 400, 900, 1_100, 20_000])
def test_a_deep_document_is_stored_whole_or_refused(api: Api, fresh: str, depth: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        document = b'{"id":"deep","x":' + opening * depth + b"1" + closing * depth + b"}"
        answer = api.post(f"/v1/namespaces/{fresh}/documents", content=b'{"documents":[%b]}' % document, headers=JSON)
        if answer.status_code == 200:
            assert api.get(f"/v1/namespaces/{fresh}/documents/deep").content == document
        else:
            assert error_of(answer) in {(400, "invalid_json"), (400, "invalid_document")}
