"""What has grown: expired sessions, keys, namespaces, uploads that wait, clients that want to hold up others."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

import engine
from engine.filters.decode import MAX_PATTERNS
from engine.storage.catalog_file import CatalogFile
from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.serving import ROOT_KEY, Api, ProcessServer, wait_until
from tests.embedders import HashingEmbedder
from tests.fakes.messages_replies import Raw
from tests.fakes.messages_server import FakeMessages
from tests.faults.extent import runs
from tests.faults.tally import Tally

DAY_MS = 86_400_000
ENVIRONMENT = {"QUARRY_RATE_LIMIT": "0", "QUARRY_USAGE_DAYS": "0"}


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def add_sessions(folder: Path, count: int) -> None:
    """Sessions of 45 KB each that expired a day ago."""
    file = CatalogFile.open(folder)
    now = int(time.time() * 1000)
    for first in range(0, count, 250):
        with file.write() as cursor:
            cursor.execute(
                "INSERT INTO sessions SELECT 'sess_old' || n, 1, 1, repeat(md5(n::VARCHAR), 1440)::BLOB, 'open', "
                "$1, $1, $2 FROM range($3, $4) t(n)",
                [now - 2 * DAY_MS, now - DAY_MS, first, min(first + 250, count)],
            )
    file.close()


def add_keys(folder: Path, count: int) -> list[str]:
    """Keys of a company, in their raw form."""
    raw = [f"qry_test{n:032d}" for n in range(count)]
    rows = [(f"key_{n:024d}", hashlib.sha256(key.encode()).hexdigest()) for n, key in enumerate(raw)]
    file = CatalogFile.open(folder)
    with file.write() as cursor:
        cursor.execute(
            "INSERT INTO api_keys SELECT unnest($1::VARCHAR[]), 1, 'grown', 'qry_test', '0000', "
            "unnest($2::VARCHAR[]), 'read search write', 1, NULL, NULL, NULL",
            [[number for number, _ in rows], [digest for _, digest in rows]],
        )
    file.close()
    return raw


def test_a_directory_that_has_grown_opens_and_answers(tmp_path: Path, tally: Tally) -> None:
    namespaces, keys, expired = runs(12, 1_000), runs(300, 10_000), runs(300, 10_000)
    with opened(tmp_path) as quarry:
        for n in range(namespaces):
            quarry.upsert(f"n{n}", [{"id": "1", "body": f"the ferry of island{n}"}])
    add_sessions(tmp_path, expired)
    raw = add_keys(tmp_path, keys)
    with (
        tally.trial(f"{expired:,} expired sessions, {keys:,} keys, {namespaces:,} namespaces: opened") as trial,
        trial.recovering(),
    ):
        quarry = opened(tmp_path)
    with quarry:
        with tally.trial("… statistics, lists, keys; no namespace is opened for them") as trial, trial.recovering():
            assert len(quarry.stats()) == len(quarry.namespaces()) == namespaces
            assert len(quarry.keys.list()) == keys
            assert quarry.open_namespaces == 0
        with tally.trial("… a document of every namespace in turn"):
            assert all(quarry.get(f"n{n}", "1")["body"] == f"the ferry of island{n}" for n in range(namespaces))
            assert quarry.open_namespaces <= engine.EngineSettings().storage.open_namespaces

        def states_left() -> int:
            with quarry._core.store._file.read() as cursor:
                row = cursor.execute("SELECT count(*) FROM sessions WHERE status <> 'expired'").fetchone()
            assert row is not None
            return int(row[0])

        with tally.trial("… expired sessions are emptied beside it") as trial, trial.recovering():
            wait_until(lambda: states_left() == 0, 600)
        assert quarry._core.store.keyring.verify(raw[-1]) is not None


def test_uploads_that_arrive_together_stay_within_bounds_of_memory(tmp_path: Path, tally: Tally) -> None:
    """1,200 of 258 KB once took 7.4 GB: bodies under 256 KB were decoded before they queued."""
    count = runs(40, 1_200)
    # Many small values, which take the most memory once decoded; one short text of each is searched.
    schema = {"title": {"type": "string", "is_searchable": True}, "note": {"type": "[]string", "is_searchable": False}}
    values = {"title": "ferry", "note": [f"note {n}" for n in range(40)]}
    each = 258_000 // len(json.dumps({"id": "d0000-000", **values}))
    with ProcessServer(tmp_path, **ENVIRONMENT) as server, Api(server.url) as api:
        assert api.upload("n", {"id": "first", **values}, schema=schema).status_code == 200
        before = server.peak_bytes()

        def upload(n: int) -> int:
            content = json.dumps({"documents": [{"id": f"d{n}-{m}", **values} for m in range(each)]})
            with Api(server.url) as own:
                return own.post(
                    "/v1/namespaces/n/documents",
                    content=content,
                    headers={"Content-Type": "application/json"},
                    timeout=600,
                ).status_code

        with (
            tally.trial(f"{count:,} uploads of 258 KB at once: memory bounded, each stored or refused") as trial,
            ThreadPoolExecutor(runs(50, 300)) as pool,
        ):
            statuses = list(pool.map(upload, range(count)))
            trial.grown_bytes = server.peak_bytes() - before
            assert set(statuses) <= {200, 429, 503}
            stats = api.get("/v1/namespaces/stats").json()
            assert stats["results"][0]["document_count"] == 1 + each * statuses.count(200)
            # What the namespace holds of its passages stays; so does not what waits.
            held = 4_000 * each * statuses.count(200)
            assert trial.grown_bytes < 1_000 * 2**20 + held, f"{trial.grown_bytes >> 20} MiB, {held >> 20} of it held"


def hostile(address: tuple[str, int], send: Callable[[socket.socket], None], stop: threading.Event) -> None:
    while not stop.is_set():
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=5) as connection:
            while not stop.is_set():
                send(connection)


def endless_head(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    for n in range(100_000):
        connection.sendall(f"X-{n}: {'y' * 1_000}\r\n".encode())


def half_a_request(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /heal")
    time.sleep(0.2)


def slow_body(connection: socket.socket) -> None:
    head = f"POST /v1/namespaces/n/documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ROOT_KEY}\r\n"
    connection.sendall((head + "Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n").encode())
    for _ in range(20):
        connection.sendall(b" " * 50_000)
        time.sleep(0.05)


def unread_answer(connection: socket.socket) -> None:
    head = f"GET /v1/namespaces/n/documents?limit=1000 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ROOT_KEY}\r\n\r\n"
    for _ in range(50):
        connection.sendall(head.encode())
    time.sleep(0.5)


HOSTILE = {
    "heads without end": endless_head,
    "half requests": half_a_request,
    "bodies that trickle": slow_body,
    "answers that nobody reads": unread_answer,
}


def test_hostile_clients_take_neither_the_loop_nor_the_memory(tmp_path: Path, tally: Tally) -> None:
    """Nor does a model's service whose replies of a megabyte hold one gigabyte."""
    packed = gzip.compress(b"x" * runs(2**26, 2**30), 1)
    with (
        FakeMessages(lambda _: Raw(packed, headers={"Content-Encoding": "gzip"})) as model,
        ProcessServer(
            tmp_path,
            QUARRY_AGENT="claude",
            ANTHROPIC_API_KEY=model.key,
            ANTHROPIC_BASE_URL=model.url,
            # Bodies that arrive slowly may hold so much together, whoever sends them.
            QUARRY_UPLOAD_MEMORY_BYTES=str(2**27),
            **ENVIRONMENT,
        ) as server,
        Api(server.url) as api,
    ):
        documents = [{"id": f"d{n}", "body": "ferry", "note": ["y" * 100_000]} for n in range(20)]
        assert api.upload("n", *documents, schema={"note": {"type": "json"}}).status_code == 200
        assert api.search("n").status_code == 200
        host, port = server.url.removeprefix("http://").split(":")

        def ask(_: socket.socket) -> None:
            with Api(server.url) as own:
                own.search("n", timeout=60)

        for kind, send in {**HOSTILE, "replies of a model that unpack to 1 GB": ask}.items():
            server.forget_peak()
            before, stop, asked = server.peak_bytes(), threading.Event(), 0
            with ThreadPoolExecutor(20) as pool:
                for _ in range(runs(2, 20)):
                    pool.submit(hostile, (host, int(port)), send, stop)
                try:
                    ends = time.monotonic() + runs(3, 300) / 10
                    while time.monotonic() < ends:
                        with tally.trial(f"a request beside hostile clients: {kind}") as trial:
                            with trial.recovering():
                                assert httpx.get(f"{server.url}/healthz", timeout=60).status_code == 200
                                assert api.get("/v1/namespaces/n/documents/d1").status_code == 200
                            trial.grown_bytes = server.peak_bytes() - before
                            assert trial.grown_bytes < 300 * 2**20, f"{trial.grown_bytes >> 20} MiB more"
                        asked += 1
                finally:
                    stop.set()
            assert asked


def test_a_noisy_key_costs_another_company_no_answer(tmp_path: Path, tally: Tally) -> None:
    """The filter is the heaviest that is taken; one with 900 globs, which once made others fail, is refused."""
    searches = runs(20, 40)
    globs = [{"source": {"$glob": "*".join("abcdefghijklmnopqrstuvwxyz"[n % 20 :])}} for n in range(900)]
    heavy = {"$or": globs[:MAX_PATTERNS]}
    with opened(tmp_path / "data") as quarry:
        noisy, quiet = (quarry.for_company(name).keys.create("test")[1] for name in ("noisy", "quiet"))
    with ProcessServer(tmp_path, **ENVIRONMENT) as server:
        for key in (noisy, quiet):
            with Api(server.url, key) as api:
                assert api.upload("n", *ARTICLES, schema=SCHEMA).status_code == 200
                assert api.search("n", filters={"$or": globs}).status_code == 400
        stop = threading.Event()

        def shout() -> set[int]:
            seen: set[int] = set()
            with Api(server.url, noisy) as api:
                while not stop.is_set():
                    seen.add(api.search("n", filters=heavy, timeout=120).status_code)
            return seen

        with ThreadPoolExecutor(searches) as pool, Api(server.url, quiet) as api:
            shouting = [pool.submit(shout) for _ in range(searches)]
            try:
                for _ in range(runs(5, 100)):
                    with (
                        tally.trial(
                            f"a search beside another company's {searches} at once with {MAX_PATTERNS} globs each"
                        ) as trial,
                        trial.recovering(),
                    ):
                        assert api.search("n").json()["status"] == "completed"
                assert api.get("/v1/namespaces").status_code == 200
            finally:
                stop.set()
        assert {code for future in shouting for code in future.result()} == {200}
