"""Searches that are met while they run: silence, clients that leave, limits, clarifications."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.rows import row
from tests.api.serving import ROOT_KEY, Api, ThreadServer, error_of, parse_events, wait_until
from tests.api.slow_model import SlowModel
from tests.fakes.messages_server import FakeMessages

BODY = {"objective": "Which of the animals purr?", "context": "a test"}


class Live:
    """A server whose model is under the test's hand."""

    def __init__(self, api: Api, server: ThreadServer, model: SlowModel, fake: FakeMessages) -> None:
        self.api, self.server, self.model, self.fake = api, server, model, fake

    @property
    def running(self) -> int:
        return self.server.service.slots.running

    def connect(self, body: dict[str, Any], key: str = ROOT_KEY) -> socket.socket:
        """A search over a plain socket; it has reached the model when this returns."""
        seen = self.model.plans(self.fake)
        host, port = self.server.url.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)), timeout=10)
        content = json.dumps(body).encode()
        head = (
            f"POST /v1/namespaces/n/search HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        connection.sendall(head.encode() + content)
        wait_until(lambda: self.model.plans(self.fake) > seen)
        return connection


@pytest.fixture(scope="module")
def started() -> Iterator[Live]:
    model = SlowModel()
    with (
        model.served() as fake,
        ThreadServer(
            agent="claude",
            anthropic_api_key=fake.key,
            anthropic_base_url=fake.url,
            heartbeat_seconds=0.05,
            key_searches=2,
            searches=3,
        ) as server,
        Api(server.url) as api,
    ):
        assert api.upload("n", *ARTICLES, schema=SCHEMA).status_code == 200
        yield Live(api, server, model, fake)


@pytest.fixture
def live(started: Live) -> Iterator[Live]:
    yield started
    started.model.hangs = False
    started.model.delay_s = 0.0
    started.model.replies = {}
    wait_until(lambda: started.running == 0)


@row("Stream: heartbeat")
def test_silence_is_filled_with_comment_lines(live: Live) -> None:
    live.model.delay_s = 0.3
    text = live.api.post("/v1/namespaces/n/search", json={**BODY, "stream": True}).text
    blocks = text.removesuffix("\n\n").split("\n\n")
    comments = [block for block in blocks if block.startswith(":")]
    assert len(comments) >= 3
    assert all("\n" not in comment for comment in comments)
    assert parse_events(text)[-1][0] == "session_result"
    assert blocks[-1].startswith("event: session_result")


@row("Stream: a client that goes away")
@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("is_reset", [True, False])
def test_a_client_that_goes_away_cancels_its_search(live: Live, is_stream: bool, is_reset: bool) -> None:
    live.model.hangs = True
    connection = live.connect({**BODY, "stream": is_stream})
    called = live.fake.requests[-1]
    assert live.running == 1
    if is_reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    wait_until(lambda: called.went_away)
    wait_until(lambda: live.running == 0)
    calls = len(live.fake.requests)
    # The next search is the next one to call the model: the cancelled one does not go on.
    live.model.hangs = False
    assert live.api.search("n").status_code == 200
    assert live.fake.requests[calls:]
    assert all(b"animals purr" not in json.dumps(r.body).encode() for r in live.fake.requests[calls:])


@row("Search and sessions: Failed session; two continuations at once")
def test_a_session_takes_one_continuation_at_a_time(live: Live) -> None:
    session = live.api.search("n").json()["session_id"]
    url = f"/v1/namespaces/n/search/{session}"
    live.model.delay_s = 0.5
    seen = len(live.fake.requests)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(live.api.post, url, json={"message": "And dogs?"})
        live.fake.wait_for(seen + 1)
        with Api(live.server.url) as other:
            for stream in (False, True):
                refused = other.post(url, json={"message": "And the moon?", "stream": stream})
                assert error_of(refused) == (409, "session_busy")
        assert first.result().status_code == 200
    live.model.delay_s = 0.0
    assert live.api.post(url, json={"message": "And the moon?"}).status_code == 200


def test_a_cancelled_continuation_leaves_its_session_free(live: Live) -> None:
    session = live.api.search("n").json()["session_id"]
    url = f"/v1/namespaces/n/search/{session}"
    live.model.hangs = True
    seen = len(live.fake.requests)
    with live.api.stream("POST", url, json={"message": "And dogs?", "stream": True}) as answer:
        chunks = answer.iter_bytes()
        next(chunks)
        live.fake.wait_for(seen + 1)
    live.model.hangs = False
    wait_until(lambda: live.running == 0)
    wait_until(lambda: live.api.post(url, json={"message": "And dogs?"}).status_code == 200)


@row("Limits: searches at once")
def test_searches_at_once_are_limited_by_key_and_in_all(live: Live) -> None:
    other, third = live.api.new_key(), live.api.new_key()
    live.model.hangs = True
    held = [live.connect({**BODY, "stream": True}) for _ in range(2)]
    refused = live.api.search("n")
    assert error_of(refused) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 1
    held.append(live.connect({**BODY, "stream": True}, key=other))
    full = live.api.with_key(third).search("n")
    assert error_of(full) == (503, "overloaded")
    assert int(full.headers["Retry-After"]) >= 1
    # What is no search goes on.
    assert live.api.get("/v1/namespaces/n").status_code == 200
    for connection in held:
        connection.close()
    wait_until(lambda: live.running == 0)
    live.model.hangs = False
    assert live.api.search("n").status_code == 200


@row(
    "Search and sessions: Clarifications",
    "Interface: Search response (session): clarification_needed",
    "Interface: Clarification: question",
    "Interface: Clarification: options",
    "Interface: States and transitions: clarification_needed",
)
def test_a_search_asks_back_only_where_it_may(live: Live) -> None:
    live.model.replies = {
        "clarify": {"needed": True, "question": "Which source is meant?", "options": ["Almanac", "Gazette"]}
    }
    plain = live.api.search("n", objective="What is said about cats?").json()
    assert plain["status"] == "completed"
    asked = live.api.search("n", objective="What is said about cats?", multiturn=True).json()
    assert asked["status"] == "clarification_needed"
    assert asked["results"] == []
    assert asked["synthesis"] == ""
    clarification = asked["clarification_needed"]
    assert sorted(clarification) == ["options", "question"]
    assert clarification["question"]
    assert 2 <= len(clarification["options"]) <= 5
    assert set(clarification["options"]) <= {"Almanac", "Gazette"}
    url = f"/v1/namespaces/n/search/{asked['session_id']}"
    answers = [live.api.post(url, json={"message": "Almanac"}).json() for _ in range(3)]
    assert all(answer["session_id"] == asked["session_id"] for answer in answers)
    # The first question counts: one more is allowed in a session.
    assert sum(answer["status"] == "clarification_needed" for answer in answers) <= 1
    assert answers[-1]["status"] == "completed"


def test_a_slow_reader_holds_up_nobody_and_misses_nothing(live: Live) -> None:
    blob = {"filler": ["x" * 1_000] * 3_000}
    documents = [article | {"blob": blob} for article in ARTICLES]
    assert live.api.upload("large", *documents, schema={"blob": {"type": "json"}}).status_code == 200
    done = threading.Event()

    def read_slowly() -> str:
        body = {**BODY, "stream": True, "include_attributes": True}
        with Api(live.server.url) as slow, slow.stream("POST", "/v1/namespaces/large/search", json=body) as answer:
            chunks = answer.iter_text()
            first = next(chunks)
            done.wait(30)
            return first + "".join(chunks)

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(read_slowly)
        wait_until(lambda: live.running == 1)
        for _ in range(20):
            assert live.api.get("/v1/namespaces/n/documents/cats").status_code == 200
        done.set()
        name, data = parse_events(slow.result(60))[-1]
    assert name == "session_result"
    assert data["results"], data["synthesis"]
    assert all(result["attributes"]["blob"] == blob for result in data["results"])
