"""Two keys, one noisy; and an event loop that waits for nothing."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

import engine
from api import connections
from api.routes import documents
from api.service import READERS, READERS_OF_ONE, WRITERS, WRITERS_OF_ONE
from engine.ingest.pipeline import Ingest
from engine.storage.connection import Database
from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.rows import row
from tests.api.serving import ROOT_KEY, Api, ThreadServer, error_of, wait_until
from tests.api.slow_model import SlowModel

HEAVY = {"$or": [{"source": {"$glob": "*".join("abcdefghijklmnopqrstuvwxyz"[n % 20 :])}} for n in range(50)]}


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with ThreadServer() as running:
        yield running


def key_of(server: ThreadServer, company: str) -> str:
    return server.service.engine.for_company(company).keys.create("test")[1]


@row("Limits: searches at once")
def test_one_key_cannot_take_all_places(tmp_path: Any) -> None:
    model = SlowModel()
    model.hangs = True
    with (
        model.served() as fake,
        ThreadServer(
            agent="claude", anthropic_api_key=fake.key, anthropic_base_url=fake.url, key_searches=2, searches=3
        ) as server,
    ):
        noisy, quiet = (Api(server.url, server.service.engine.keys.create(name)[1]) for name in ("noisy", "quiet"))
        noisy.upload("n", *ARTICLES)
        with ThreadPoolExecutor(3) as pool:
            first = [pool.submit(noisy.search, "n") for _ in range(2)]
            wait_until(lambda: server.service.slots.running == 2)
            assert error_of(noisy.search("n")) == (429, "rate_limited")
            other = pool.submit(quiet.search, "n")
            wait_until(lambda: server.service.slots.running == 3)
            server.service.closing.set()
            assert {future.result().status_code for future in [*first, other]} == {503}
            server.service.closing.clear()


@pytest.mark.parametrize(
    ("verb", "threads", "allowed"), [("get", READERS, READERS_OF_ONE), ("upsert", WRITERS, WRITERS_OF_ONE)]
)
def test_the_threads_that_one_key_fills_are_not_all(
    server: ThreadServer, monkeypatch: pytest.MonkeyPatch, verb: str, threads: int, allowed: int
) -> None:
    noisy, quiet = (Api(server.url, key_of(server, f"{verb} {name}")) for name in ("noisy", "quiet"))
    for api in (noisy, quiet):
        assert api.upload("n", *ARTICLES, schema=SCHEMA).status_code == 200
    go_on, begun, original = threading.Event(), [], getattr(engine.Engine, verb)

    def waits(self: engine.Engine, *args: Any) -> Any:
        if self.company.endswith("noisy"):
            begun.append(verb)
            assert go_on.wait(60)
        return original(self, *args)

    def ask(api: Api, name: str) -> int:
        found = api.get("/v1/namespaces/n/documents/cats") if verb == "get" else api.upload(name, *ARTICLES)
        return found.status_code

    monkeypatch.setattr(engine.Engine, verb, waits)
    with ThreadPoolExecutor(threads) as pool:
        # Uploads to one namespace would only wait for each other.
        asked = [
            pool.submit(ask, Api(server.url, noisy.headers["Authorization"].split()[1]), f"n{n}")
            for n in range(threads)
        ]
        try:
            wait_until(lambda: len(begun) == allowed)
            assert ask(quiet, "other") == 200
            assert len(begun) == allowed
        finally:
            go_on.set()
        assert {future.result() for future in asked} == {200}


def ask_for_everything(api: Api) -> None:
    """A request of every kind that touches the disk, one that is cancelled among them."""
    raw = api.new_key(scopes=["admin"])
    caller = api.with_key(raw)
    assert caller.upload("own", *ARTICLES, schema=SCHEMA).status_code == 200
    session = caller.search("own", multiturn=True).json()["session_id"]
    assert caller.post(f"/v1/namespaces/own/search/{session}", json={"message": "And dogs?"}).status_code == 200
    # Cancelled in the middle: the session is given back.
    with pytest.raises(httpx.ReadTimeout):
        caller.post(f"/v1/namespaces/own/search/{session}", json={"message": "And the moon?"}, timeout=0.001)
    caller.search("own", filters=HEAVY, stream=True)
    for path in ("", "/own", "/stats", "/own/documents", "/own/documents/cats", "/own/random_document"):
        assert caller.get(f"/v1/namespaces{path}").status_code == 200
    for path in ("/v1/usage_events", "/v1/whoami", "/v1/api_keys", "/readyz", "/healthz", "/metrics"):
        assert caller.get(path).status_code == 200
    key_id = caller.get("/v1/api_keys").json()["api_keys"][-1]["id"]
    assert caller.delete("/v1/namespaces/own").status_code == 200
    assert caller.delete(f"/v1/api_keys/{key_id}").status_code == 200


def test_no_request_waits_for_the_disk_on_the_event_loop(server: ThreadServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every use of a database notes its thread: none may be the loop's."""
    used: list[str] = []
    for name in ("reader", "transaction", "snapshot"):
        original = getattr(Database, name)

        def noted(self: Database, *args: Any, original: Any = original, name: str = name) -> Any:
            if threading.current_thread() is server.thread:
                used.append(name)
            return original(self, *args)

        monkeypatch.setattr(Database, name, noted)
    ask_for_everything(Api(server.url))
    wait_until(lambda: not server.connections or not any(c.is_at_work for c in server.connections))
    assert used == []


def test_a_slow_disk_makes_no_step_of_the_event_loop_slow(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In asyncio's debug mode, which names every step that takes longer than it should."""
    steps = [(Database, name) for name in ("reader", "transaction", "snapshot", "checkpoint")]
    with caplog.at_level("WARNING", logger="asyncio"), ThreadServer() as server:

        def slow(original: Any) -> Any:
            def run(*args: Any, **kwargs: Any) -> Any:
                # Long enough to be named whatever else the machine does.
                time.sleep(4.0 if threading.current_thread() is server.thread else 0.005)
                return original(*args, **kwargs)

            return run

        api = Api(server.url)
        assert api.get("/healthz").status_code == 200
        for owner, name in [*steps, (os, "fsync"), (sqlite3, "connect")]:
            monkeypatch.setattr(owner, name, slow(getattr(owner, name)))
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))):
            wait_until(lambda: server.connections)
            loop = server.connections[0].loop
            loop.slow_callback_duration = 3.0
            loop.call_soon_threadsafe(loop.set_debug, True)
        ask_for_everything(api)
        assert [r.getMessage() for r in caplog.records if "took" in r.getMessage()] == []
        # The control: a step that does wait is named.
        loop.call_soon_threadsafe(slow(bool))
        wait_until(lambda: any("took" in r.getMessage() for r in caplog.records))


def test_a_slow_rebuild_of_one_namespace_holds_up_no_other(
    server: ThreadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, go_on, begun = Api(server.url, key_of(server, "builder")), threading.Event(), threading.Semaphore(0)
    assert api.upload("slow", *ARTICLES, schema=SCHEMA).status_code == 200
    original = Ingest._rederive

    def rederive(self: Ingest, *args: Any, **kwargs: Any) -> None:
        begun.release()
        assert go_on.wait(60)
        original(self, *args, **kwargs)

    monkeypatch.setattr(Ingest, "_rederive", rederive)
    # Another attribute is searched, so every stored document is cut anew.
    searched = {"source": {"type": "string", "is_searchable": True}}
    raw = api.headers["Authorization"].split()[1]
    with ThreadPoolExecutor(3) as pool:
        rebuilds = [pool.submit(Api(server.url, raw).upload, "slow", ARTICLES[0], schema=searched) for _ in range(3)]
        try:
            assert begun.acquire(timeout=60)
            assert api.upload("quick", *ARTICLES, schema=SCHEMA).status_code == 200
            assert api.upload("quick", *ARTICLES, schema=searched | SCHEMA).status_code == 200
            # Searches of the namespace itself go on over its old state.
            assert api.get("/v1/namespaces/slow/documents/cats").status_code == 200
            assert api.search("slow").status_code == 200
        finally:
            go_on.set()
        assert [rebuild.result().status_code for rebuild in rebuilds] == [200] * 3


def test_uploads_that_wait_are_not_decoded_and_hold_up_no_other_namespace(
    server: ThreadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, go_on, begun = Api(server.url, key_of(server, "writer")), threading.Event(), []
    original = engine.Engine.upsert

    def upsert(self: engine.Engine, namespace: str, *args: Any) -> int:
        if namespace == "slow":
            begun.append(namespace)
            assert go_on.wait(20)
        return original(self, namespace, *args)

    decoded: list[int] = []
    decode = documents._uploads.decode

    def noted(body: bytes, request: Any) -> Any:
        decoded.append(len(body))
        return decode(body, request)

    monkeypatch.setattr(engine.Engine, "upsert", upsert)
    monkeypatch.setattr(documents._uploads, "decode", noted)
    document = {"id": "a", "text": "Cats sleep.", "x": ["y" * 200_000]}
    with ThreadPoolExecutor(8) as pool:
        slow = [
            pool.submit(Api(server.url, api.headers["Authorization"].split()[1]).upload, "slow", document)
            for _ in range(8)
        ]
        wait_until(lambda: server.service.uploads.held > 8 * 200_000)
        # One at a time decodes and writes; the others are bytes.
        assert api.upload("quick", document).status_code == 200
        assert begun == ["slow"]
        assert len(decoded) == 2
        go_on.set()
        assert {future.result().status_code for future in slow} == {200}
    assert server.service.uploads.held == 0


def test_a_search_keeps_its_place_until_its_answer_has_left(
    server: ThreadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that reads nothing of a large answer holds the place, and only for as long as it may take to read."""
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.5)
    api = Api(server.url)
    text = "Cats sleep for thirteen hours a day."
    documents = [{"id": str(n), "text": text, "padding": ["x" * 2_000_000]} for n in range(8)]
    assert api.upload("padded", *documents, schema={"padding": {"type": "json"}}).status_code == 200
    body = b'{"text":"How long do cats sleep?","k":8,"include_attributes":true}'
    head = f"POST /v1/namespaces/padded/retrieve HTTP/1.1\r\nHost: t\r\nContent-Length: {len(body)}\r\n"
    head += f"Authorization: Bearer {ROOT_KEY}\r\nContent-Type: application/json\r\n\r\n"
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
    connection.sendall(head.encode() + body)
    wait_until(lambda: server.service.answers.held > 8_000_000)
    assert server.service.slots.running == 1
    wait_until(lambda: server.service.answers.held == 0)
    assert server.service.slots.running == 0
    connection.close()
