"""Rows of the decisions: the stream."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tests.api.rows import row
from tests.api.serving import Api, error_of, parse_events

BODY = {"objective": "For how many hours do cats sleep a day?", "context": "a test", "stream": True}


@row("Stream: errors before the stream")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"objective": ""}, (400, "invalid_request")),
        ({"filters": {"unheard": 1}}, (400, "unknown_attribute")),
        ({"filters": {"$what": 1}}, (400, "invalid_filter")),
    ],
)
def test_what_can_be_refused_is_refused_before_the_stream(
    api: Api, articles: str, change: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert error_of(api.post(f"/v1/namespaces/{articles}/search", json=BODY | change)) == expected
    assert error_of(api.post("/v1/namespaces/nowhere/search", json=BODY)) == (404, "namespace_not_found")
    assert error_of(api.with_key(None).post(f"/v1/namespaces/{articles}/search", json=BODY))[0] == 401


@row("Stream: headers")
def test_a_stream_has_its_headers(api: Api, articles: str) -> None:
    answer = api.post(f"/v1/namespaces/{articles}/search", json=BODY)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["Cache-Control"] == "no-cache, no-transform"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert re.fullmatch(r"req_[A-Za-z0-9_-]{22}", answer.headers["X-Request-Id"])
    assert "Content-Length" not in answer.headers


@row("Stream: frames")
def test_frames_are_an_event_line_a_data_line_and_an_empty_line(api: Api, articles: str) -> None:
    body = api.post(f"/v1/namespaces/{articles}/search", json=BODY).content
    assert b"\r" not in body
    frames = [frame for frame in body.split(b"\n\n") if not frame.startswith(b":")]
    assert frames.pop() == b""
    assert all(re.fullmatch(rb"event: [a-z_]+\ndata: \{[^\n]*\}", frame) for frame in frames)


@row("Stream: type in the data")
def test_data_names_its_event(api: Api, articles: str) -> None:
    events = api.events(f"/v1/namespaces/{articles}/search", BODY)
    assert all(data["type"] == name for name, data in events)
    assert all(sorted(data) == ["message", "type"] for name, data in events if name == "status")


@row("Stream: order of events")
def test_any_number_of_status_then_one_result_then_the_end(api: Api, articles: str) -> None:
    names = [name for name, _ in api.events(f"/v1/namespaces/{articles}/search", BODY)]
    assert names[-1] == "session_result"
    assert set(names[:-1]) == {"status"}


@row("Stream: order of events")
def test_events_arrive_while_the_search_runs(api: Api, articles: str) -> None:
    chunks: list[str] = []
    with api.stream("POST", f"/v1/namespaces/{articles}/search", json=BODY) as answer:
        chunks.extend(answer.iter_text())
    assert len(chunks) > 1
    assert parse_events("".join(chunks))


@row("Stream: order of events")
def test_a_stream_ends_its_response_in_good_order(api: Api, articles: str) -> None:
    # httpx raises RemoteProtocolError for a chunked body without its last chunk.
    with httpx.Client(base_url=api.url, headers=api.headers) as kept:
        for _ in range(2):
            answer = kept.post(f"/v1/namespaces/{articles}/search", json=BODY)
            assert parse_events(answer.text)[-1][0] == "session_result"
