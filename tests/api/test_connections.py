"""What a server bears from connections: raw sockets against the protocol that it is served with."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api import connections
from tests.api.rows import row
from tests.api.serving import ROOT_KEY, Api, ProcessServer, ThreadServer, raw_exchange, wait_until

GET = f"GET /v1/namespaces HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {ROOT_KEY}\r\n\r\n".encode()
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadServer]:
    with ThreadServer(upload_bytes=16 * MEGABYTE, connections=20) as running:
        yield running


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds in time that a test can wait for."""
    for name in ("HEADER_SECONDS", "STALL_SECONDS", "PARTING_IDLE_SECONDS"):
        monkeypatch.setattr(connections, name, 0.3)


def connected(server: ThreadServer, **options: Any) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    made = socket.socket()
    for name, value in options.items():
        made.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    made.settimeout(20)
    made.connect((host, int(port)))
    return made


def rest_of(connection: socket.socket) -> bytes:
    """Everything until the server closes the connection; a reset counts as its end."""
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def answer_of(connection: socket.socket) -> bytes:
    """One answer of a connection that stays open."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def error_in(answer: bytes) -> tuple[int, str]:
    """Status and code of an error as raw bytes, whose shape is checked on the way."""
    head, _, body = answer.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    assert error["request_id"].startswith("req_")
    assert headers["x-request-id"] == error["request_id"].lower()
    assert (headers["content-type"], headers["connection"]) == ("application/json", "close")
    assert headers["x-content-type-options"] == "nosniff"
    return int(lines[0].split()[1]), error["code"]


def pouring(connection: socket.socket, piece: bytes, most: int) -> int:
    """Send `piece` again and again until the server stops it; the bytes that were sent."""
    sent = 0
    try:
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


@row("Errors: one body")
@pytest.mark.parametrize(
    "request_bytes",
    [
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /v1/namespaces HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/api_keys HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: t\r\n\r\n",
        b"GET / HTTP/1.1\r\nHo st: t\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_our_error_too(server: ThreadServer, request_bytes: bytes) -> None:
    assert error_in(raw_exchange(server.url, request_bytes, half_close=True)) == (400, "invalid_request")


@pytest.mark.parametrize("piece", [b"a" * 16_384, b"a: b\r\n" * 1_000, b"x-long: " + b"a" * 70_000 + b"\r\n"])
def test_a_head_without_end_is_refused_soon(server: ThreadServer, piece: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nx-endless: ")
        pouring(connection, piece, MEGABYTE // 2)
        assert error_in(rest_of(connection)) == (400, "invalid_request")


def test_whoever_goes_on_with_a_head_that_was_refused_is_cut_off(server: ThreadServer) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nx-endless: ")
        assert pouring(connection, b"a" * 65_536, 512 * MEGABYTE) < 512 * MEGABYTE


def test_a_path_without_end_is_refused_soon(server: ThreadServer) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /")
        pouring(connection, b"a" * 16_384, MEGABYTE // 2)
        assert error_in(rest_of(connection)) == (400, "invalid_request")


def test_trailers_without_end_are_refused(server: ThreadServer) -> None:
    head = GET.replace(b"GET /v1/namespaces", b"POST /v1/namespaces/n/documents").rstrip() + b"\r\n"
    head += b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nx-endless: "
    with connected(server) as connection:
        connection.sendall(head)
        pouring(connection, b"a" * 16_384, MEGABYTE // 2)
        assert error_in(rest_of(connection)) == (400, "invalid_request")


def test_a_head_of_very_many_small_headers_is_refused(server: ThreadServer) -> None:
    with connected(server) as connection:
        connection.sendall(GET[:-2] + b"".join(b"x-%d: y\r\n" % n for n in range(150)) + b"\r\n")
        assert error_in(rest_of(connection)) == (400, "invalid_request")


def test_heads_of_a_common_size_are_taken(server: ThreadServer) -> None:
    padding = b"".join(b"x-%d: %b\r\n" % (n, b"a" * 400) for n in range(90))
    with connected(server) as connection:
        connection.sendall(GET[:-2] + padding + b"\r\n")
        assert answer_of(connection).startswith(b"HTTP/1.1 200 ")


def test_half_a_request_behind_a_whole_one_does_not_keep_a_connection(server: ThreadServer, quick: None) -> None:
    with connected(server) as connection:
        connection.sendall(GET + b"GET /healthz HTTP/1.1\r\nx-half: ")
        assert rest_of(connection).startswith(b"HTTP/1.1 200 ")
    with connected(server) as connection:
        connection.sendall(GET)
        answer_of(connection)
        connection.sendall(b"G")
        assert rest_of(connection) == b""


def test_a_connection_that_says_nothing_is_closed(server: ThreadServer, quick: None) -> None:
    for said in (b"", b"GET /healthz HTTP/1.1\r\nHost: t\r\nx-slow: "):
        with connected(server) as connection:
            connection.sendall(said)
            assert rest_of(connection) == b""


def test_nonsense_behind_a_request_does_not_cost_its_answer(server: ThreadServer) -> None:
    with connected(server) as connection:
        connection.sendall(GET + b"NONSENSE\r\n\r\n")
        answer = rest_of(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_requests_one_behind_the_other_are_all_answered(server: ThreadServer) -> None:
    with connected(server) as connection:
        connection.sendall(GET * 50)
        received = b""
        while received.count(b"HTTP/1.1 200 ") < 50:
            received += connection.recv(65536)
        assert b"HTTP/1.1 4" not in received


@row("Added after trials: Refusing a body early (413, 401, 415)")
@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (413, {"Authorization": f"Bearer {ROOT_KEY}", "Content-Type": "application/json"}),
        (401, {"Content-Type": "application/json"}),
        (415, {"Authorization": f"Bearer {ROOT_KEY}", "Content-Type": "text/plain"}),
    ],
)
@pytest.mark.parametrize("is_chunked", [False, True])
def test_an_early_answer_arrives_however_long_the_body(
    server: ThreadServer, status: int, headers: dict[str, str], is_chunked: bool
) -> None:
    framing = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {30 * MEGABYTE}"
    lines = "\r\n".join(f"{name}: {value}" for name, value in headers.items())
    head = f"POST /v1/namespaces/n/documents HTTP/1.1\r\nHost: t\r\n{lines}\r\n{framing}\r\n\r\n".encode()
    piece = b"x" * MEGABYTE
    for _ in range(3):
        with connected(server) as connection:
            # A client that reads nothing before it has sent everything.
            connection.sendall(head)
            for _ in range(30):
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            if is_chunked:
                connection.sendall(b"0\r\n\r\n")
            assert error_in(rest_of(connection))[0] == status


@row("Added after trials: Refusing a body early (413, 401, 415)")
def test_what_is_read_and_dropped_is_bounded(
    server: ThreadServer, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    monkeypatch.setattr(connections, "PARTING_BYTES", 4 * MEGABYTE)
    head = GET.replace(b"GET /v1/namespaces", b"POST /v1/api_keys").rstrip() + b"\r\nContent-Length: 1000000000\r\n\r\n"
    with connected(server) as connection:
        connection.sendall(head)
        assert pouring(connection, b"x" * MEGABYTE, 512 * MEGABYTE) < 256 * MEGABYTE
    with connected(server) as connection:
        # Nothing more is sent: it ends by time.
        connection.sendall(head)
        assert error_in(rest_of(connection)) == (415, "unsupported_media_type")


def test_idle_connections_give_way_and_busy_ones_do_not(server: ThreadServer) -> None:
    idle = [connected(server) for _ in range(40)]
    for connection in idle[:20]:
        connection.sendall(GET)
    # However many are idle, whoever comes is served.
    for _ in range(5):
        assert raw_exchange(server.url, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")).startswith(
            b"HTTP/1.1 200 "
        )
    for connection in idle:
        connection.close()
    wait_until(lambda: not server.connections)
    begun = GET.replace(b"GET /v1/namespaces", b"POST /v1/api_keys").rstrip()
    begun += b"\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    busy = [connected(server) for _ in range(20)]
    for connection in busy:
        connection.sendall(begun)
    wait_until(lambda: sum(c.cycle is not None for c in server.connections) == 20)
    with connected(server) as one_more:
        assert error_in(rest_of(one_more)) == (503, "overloaded")
    for connection in busy:
        connection.sendall(b'"name":1')
        assert answer_of(connection).startswith(b"HTTP/1.1 400 ")
        connection.close()


def test_an_answer_that_nobody_reads_is_given_up(server: ThreadServer, quick: None) -> None:
    documents = [{"id": str(n), "x": ["y" * MEGABYTE]} for n in range(12)]
    with Api(server.url) as api:
        assert api.upload("large", *documents, schema={"x": {"type": "json"}}).status_code == 200
    request = GET.replace(b"/v1/namespaces", b"/v1/namespaces/large/documents")
    with connected(server, SO_RCVBUF=4_096) as connection:
        connection.sendall(request)
        wait_until(lambda: server.service.answers.held > 0)
        wait_until(lambda: server.service.answers.held == 0)
        assert not any(c.is_at_work for c in server.connections)


def test_half_a_request_does_not_keep_a_server_from_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PARTING_IDLE_SECONDS", 600)
    with ThreadServer() as own:
        connection = connected(own)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nx-half: ")
        wait_until(lambda: len(own.connections) == 1)
    connection.close()


def test_few_descriptors_are_kept_for_the_data(tmp_path: Path) -> None:
    with ProcessServer(tmp_path, descriptors=160) as server, Api(server.url) as api:
        host, port = server.url.removeprefix("http://").split(":")
        idle = []
        for _ in range(200):
            connection = socket.create_connection((host, int(port)), timeout=10)
            connection.sendall(b"G")
            idle.append(connection)
        for n in range(5):
            assert api.upload(f"n{n}", {"id": "a", "text": "Cats sleep."}).status_code == 200
            assert api.search(f"n{n}").json()["status"] == "completed"
        for connection in idle:
            connection.close()
        assert server.stop() == 0
    assert "Too many open files" not in server.log.read_text()
