"""Real servers over loopback, and clients that speak to them."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import httpx
import uvicorn

from api.app import create_app
from api.connections import ClientConnection, bounded
from api.service import Service
from api.settings import Settings
from api.tracing import Traces

ROOT_KEY = "root-key-of-these-tests"
PROJECT = Path(__file__).resolve().parents[2]
_MAIN = """
from api.server import serve
from api.settings import from_environment
raise SystemExit(serve(from_environment()))
"""


class Api(httpx.Client):
    """A client with a key."""

    def __init__(self, url: str, key: str | None = ROOT_KEY) -> None:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # Connections are not kept: a test that cuts one must not disturb the next.
        super().__init__(base_url=url, headers=headers, timeout=30, limits=httpx.Limits(max_keepalive_connections=0))
        self.url = url

    def with_key(self, key: str | None) -> Api:
        """The same server, asked with another key."""
        return Api(self.url, key)

    def new_key(self, **body: Any) -> str:
        """The raw form of a new key."""
        answer = self.post("/v1/api_keys", json={"name": "made by a test", **body})
        assert answer.status_code == 201, answer.text
        return answer.json()["raw_key"]

    def upload(
        self, namespace: str, *documents: dict[str, Any], schema: dict[str, Any] | None = None
    ) -> httpx.Response:
        """Upload documents."""
        body: dict[str, Any] = {"documents": list(documents)}
        if schema is not None:
            body["schema"] = schema
        return self.post(f"/v1/namespaces/{namespace}/documents", json=body)

    def search(
        self, namespace: str, objective: str = "For how many hours do cats sleep a day?", **body: Any
    ) -> httpx.Response:
        """Search a namespace."""
        asked = {"objective": objective, "context": "A question of a test.", **body}
        return self.post(f"/v1/namespaces/{namespace}/search", json=asked)

    def found(self, namespace: str, filters: Any, **body: Any) -> set[str]:
        """Ids of the documents that a search under `filters` cites."""
        answer = self.search(namespace, filters=filters, **body)
        assert answer.status_code == 200, answer.text
        return {result["id"] for result in answer.json()["results"]}

    def events(self, url: str, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """The events of a stream: names and data."""
        answer = self.post(url, json={**body, "stream": True})
        assert answer.status_code == 200, answer.text
        return parse_events(answer.text)


def parse_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Events of a stream, read strictly: any line that is not as it should be fails."""
    import json

    events: list[tuple[str, dict[str, Any]]] = []
    assert text.endswith("\n\n")
    assert "\r" not in text
    for block in text[:-2].split("\n\n"):
        if block.startswith(":"):
            continue
        match = re.fullmatch(r"event: (\w+)\ndata: ([^\n]*)", block)
        assert match, block
        events.append((match[1], json.loads(match[2])))
    return events


def error_of(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of an error, whose body and headers are checked on the way."""
    body = answer.json()
    assert list(body) == ["error"], body
    error = body["error"]
    assert sorted(error) == ["code", "details", "message", "request_id"], error
    assert error["message"]
    assert all(sorted(detail) == ["message", "path"] for detail in error["details"])
    assert error["request_id"] == answer.headers["X-Request-Id"]
    assert answer.headers["Content-Type"] == "application/json"
    for leak in ("Traceback", "site-packages", 'File "', "SELECT ", "duckdb", ".py", ROOT_KEY):
        assert leak not in answer.text
    return answer.status_code, error["code"]


def error_path(answer: httpx.Response) -> str:
    """The path of the first fault."""
    return answer.json()["error"]["details"][0]["path"]


class ProcessServer:
    """The server as it is run: a process of its own, with its log in a file.

    Attributes:
        url: where it listens.
        log: the file of its standard error.

    Args:
        descriptors: files and connections that it may have open; None for as many as the system allows.
        installed: the folder whose code runs.
    """

    def __init__(
        self, directory: Path, descriptors: int | None = None, installed: Path = PROJECT, **environment: str
    ) -> None:
        self._descriptors = descriptors
        self._installed = installed
        self.log = directory / "server.log"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("QUARRY_", "ANTHROPIC_"))}
        self._environment = clean | {
            "QUARRY_DATA": str(directory / "data"),
            "QUARRY_PORT": "0",
            "QUARRY_API_KEY": ROOT_KEY,
            "QUARRY_AGENT": "offline",
            **environment,
        }
        self.url = ""
        self.stdout: list[str] = []

    def start(self) -> ProcessServer:
        """Run it and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _MAIN],
                cwd=self._installed,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=self._limit_descriptors,  # noqa: PLW1509 - before the child has threads
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.stdout.append(line)
        match = re.fullmatch(r"listening on (http://\S+:\d+)\n", line)
        assert match, (line, self.log.read_text())
        self.url = match[1]
        return self

    def _limit_descriptors(self) -> None:
        if self._descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._descriptors, self._descriptors))

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End it in good order; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        assert self.process.stdout is not None
        if not self.process.stdout.closed:
            self.stdout += self.process.stdout.readlines()
            self.process.stdout.close()
        return self.process.wait(30)

    def forget_peak(self) -> None:
        """Begin anew with `peak_bytes`."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_bytes(self) -> int:
        """The largest resident size since the start, or since `forget_peak`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]

    def __enter__(self) -> ProcessServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class ThreadServer:
    """The same application on uvicorn in a thread of the test process, for settings of its own.

    Attributes:
        service: of the application, to look at what it holds.
        thread: of the event loop.
    """

    def __init__(self, *, traces: Traces | None = None, **settings: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="quarry-test-")
        chosen: dict[str, Any] = {"data": Path(self._folder.name) / "data", "api_key": ROOT_KEY, "agent": "offline"}
        self.app = create_app(Settings(**(chosen | settings)), traces)
        self.service: Service = self.app.state.service
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        protocol = bounded(self.service.settings.connections)
        config = uvicorn.Config(
            self.app, http=protocol, log_config=None, access_log=False, lifespan="on", ws="none", server_header=False
        )
        self._server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def connections(self) -> list[ClientConnection]:
        """Those that are open now."""
        return list(cast("set[ClientConnection]", self._server.server_state.connections))

    def __enter__(self) -> ThreadServer:
        self.thread.start()
        deadline = time.monotonic() + 60
        while not self._server.started:
            assert time.monotonic() < deadline
            assert self.thread.is_alive()
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        self._folder.cleanup()


def raw_exchange(url: str, request: bytes, *, half_close: bool = False) -> bytes:
    """What a server sends for these very bytes, until it closes the connection or is silent for long."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


def wait_until(condition: Any, seconds: float = 10.0) -> None:
    """Wait for a condition; fails when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)
