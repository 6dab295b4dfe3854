"""Rows of the decisions: limits, and the life of sessions, on servers with small ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from tests.api.rows import row
from tests.api.serving import Api, ProcessServer, ThreadServer, error_of, raw_exchange

UPLOAD_BYTES = 50_000
BODY_BYTES = 2_000


@pytest.fixture(scope="module")
def small() -> Iterator[Api]:
    with (
        ThreadServer(
            upload_bytes=UPLOAD_BYTES,
            body_bytes=BODY_BYTES,
            upload_memory_bytes=UPLOAD_BYTES,
            rate_limit=30,
            cors_origins=("https://app.example.com",),
        ) as server,
        Api(server.url) as api,
    ):
        yield api


@pytest.fixture
def key(small: Api) -> str:
    """A key of the test's own, so that rates do not meet."""
    return small.new_key()


@pytest.fixture
def caller(small: Api, key: str) -> Api:
    return small.with_key(key)


def upload_of(size: int) -> bytes:
    shell = b'{"documents":[{"id":"a","x":"%b"}]}'
    return shell % (b"x" * (size - len(shell) + 2))


def head(path: str, key: str, *lines: str) -> bytes:
    fixed = [f"POST {path} HTTP/1.1", "Host: test", f"Authorization: Bearer {key}", "Content-Type: application/json"]
    return "\r\n".join([*fixed, *lines, "", ""]).encode()


@row("Limits: body sizes")
def test_the_limits_are_those_of_the_decisions_unless_told_otherwise() -> None:
    assert (Settings().upload_bytes, Settings().body_bytes) == (256 * 1024 * 1024, 1024 * 1024)


@row("Limits: deprecations")
def test_a_route_announces_its_end_in_the_description_and_its_answers_or_in_neither(api: Api, articles: str) -> None:
    described = api.get("/openapi.json").json()
    deprecated = [path for path, item in described["paths"].items() for one in item.values() if one.get("deprecated")]
    headers = {name.lower() for name in api.get(f"/v1/namespaces/{articles}").headers}
    # Nothing is on its way out: the first that is needs all three headers, and a test of them here.
    assert deprecated == []
    assert not headers & {"deprecation", "sunset"}


@row("Limits: body sizes")
def test_a_body_at_its_limit_is_taken_and_one_byte_more_is_not(caller: Api) -> None:
    url, kind = "/v1/namespaces/n/documents", {"Content-Type": "application/json"}
    assert caller.post(url, content=upload_of(UPLOAD_BYTES), headers=kind).status_code == 200
    assert error_of(caller.post(url, content=upload_of(UPLOAD_BYTES + 1), headers=kind)) == (413, "payload_too_large")
    padding = {"objective": "x", "context": "x", "padding": ""}
    padding["padding"] = "x" * (BODY_BYTES - 48)
    for extra, status in (("", {404, 200}), ("x" * 200, {413})):
        body = padding | {"padding": padding["padding"] + extra}
        assert caller.post("/v1/namespaces/n/search", json=body).status_code in status


@row("Limits: body sizes")
def test_an_announced_size_is_refused_before_it_is_sent(caller: Api, key: str) -> None:
    request = head("/v1/namespaces/n/documents", key, f"Content-Length: {10**12}")
    answer = raw_exchange(caller.url, request)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"payload_too_large"' in answer
    assert b"connection: close" in answer.lower()


@row("Limits: body sizes")
def test_a_chunked_body_is_refused_when_it_grows_too_large(caller: Api, key: str) -> None:
    chunks = b"".join(b"%x\r\n%b\r\n" % (4_096, b"x" * 4_096) for _ in range(14))
    answer = raw_exchange(caller.url, head("/v1/namespaces/n/documents", key, "Transfer-Encoding: chunked") + chunks)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"payload_too_large"' in answer


@row("Limits: body sizes")
def test_large_uploads_at_once_are_turned_away_for_a_while(caller: Api, key: str) -> None:
    half = UPLOAD_BYTES - 1_000
    began, go_on = threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        body = upload_of(UPLOAD_BYTES - 500)
        yield body[:half]
        began.set()
        assert go_on.wait(20)
        yield body[half:]

    answers: list[Any] = []
    kind = {"Content-Type": "application/json"}

    def upload() -> None:
        with Api(caller.url, key) as slow:
            answers.append(slow.post("/v1/namespaces/slow/documents", content=pieces(), headers=kind))

    thread = threading.Thread(target=upload)
    thread.start()
    assert began.wait(20)
    refused = caller.post("/v1/namespaces/n/documents", content=upload_of(UPLOAD_BYTES), headers=kind)
    go_on.set()
    thread.join(20)
    assert error_of(refused) == (503, "overloaded")
    assert int(refused.headers["Retry-After"]) >= 1
    assert answers[0].status_code == 200
    # What was held has been given back.
    assert caller.post("/v1/namespaces/n/documents", content=upload_of(UPLOAD_BYTES), headers=kind).status_code == 200


@row("Limits: one document")
def test_a_document_has_at_most_eight_megabytes(api: Api, fresh: str) -> None:
    schema = {"x": {"type": "json"}}
    fits = {"id": "a", "x": [1.5] * 2_000_000}
    assert api.upload(fresh, fits, schema=schema).status_code == 200
    refused = api.upload(fresh, {"id": "a"}, {"id": "b", "x": [1.5] * 2_100_000}, schema=schema)
    assert error_of(refused) == (400, "invalid_document")
    assert "documents[1]" in refused.json()["error"]["details"][0]["path"]


@row("Limits: attributes of a namespace")
def test_a_namespace_has_at_most_256_attributes(api: Api, fresh: str) -> None:
    assert api.upload(fresh, {"id": "a"} | {f"x{n}": n for n in range(256)}).status_code == 200
    refused = api.upload(fresh, {"id": "b", "one_more": 1})
    assert refused.status_code == 400
    assert error_of(refused)[1] in {"invalid_schema", "invalid_document"}


@row("Limits: rate limits")
def test_each_key_has_a_rate_of_its_own(caller: Api, small: Api) -> None:
    answers = [caller.get("/v1/namespaces") for _ in range(31)]
    assert {answer.status_code for answer in answers[:30]} == {200}
    assert error_of(answers[30]) == (429, "rate_limited")
    assert 1 <= int(answers[30].headers["Retry-After"]) <= 2
    # Other keys and what needs no key go on.
    assert small.get("/v1/namespaces").status_code == 200
    assert caller.with_key(None).get("/healthz").status_code == 200


@row("Limits: rate limits")
def test_without_the_setting_there_is_no_rate(api: Api) -> None:
    assert {api.get("/v1/namespaces", params={"limit": 1}).status_code for _ in range(70)} == {200}


@row("Search and sessions: Lifetime")
def test_a_session_expires_after_its_last_use() -> None:
    with ThreadServer(session_hours=0.3 / 3_600) as server, Api(server.url) as api:
        api.upload("n", {"id": "a", "text": "Cats sleep."})
        session = api.search("n").json()["session_id"]
        url = f"/v1/namespaces/n/search/{session}"
        time.sleep(0.5)
        answer = api.post(url, json={"message": "go on"})
        assert error_of(answer) == (410, "session_expired")
        streamed = api.post(url, json={"message": "go on", "stream": True})
        assert error_of(streamed) == (410, "session_expired")


@row("Search and sessions: Lifetime")
def test_sessions_and_keys_outlive_a_restart(tmp_path: Path) -> None:
    with ProcessServer(tmp_path) as server, Api(server.url) as api:
        api.upload("n", {"id": "a", "text": "Cats sleep for hours."})
        session = api.search("n").json()["session_id"]
        key = api.new_key()
        assert server.stop() == 0
        server.start()
        with Api(server.url, key) as again:
            assert again.get("/v1/namespaces/n/documents/a").status_code == 200
            answer = again.post(f"/v1/namespaces/n/search/{session}", json={"message": "For how many hours?"})
            assert answer.json()["session_id"] == session
