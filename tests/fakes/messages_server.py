"""A Messages API on loopback: a real HTTP server that the real SDK talks to.

It answers by script, refuses what the service refuses (`messages_rules`), injects faults (`messages_replies`), and
records every request. Answers are whole, never streamed: the client under test asks for no stream.

    with FakeMessages([Answer({"ready": True})]) as server:
        ModelSettings(api_key=server.key, base_url=server.url)
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from tests.fakes.messages_replies import Act, Answer, Cut, Hang, Raw, Received, Refuse, Reset, Script
from tests.fakes.messages_rules import first_refusal

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 429: "Too Many Requests", 529: "Overloaded"}


class FakeMessages:
    """Serves a script on a port of its own, from a thread of its own. A script that has run out gives 529.

    Attributes:
        requests: everything received, in order of arrival.
        most_at_once: the largest number of requests that were under way together.
    """

    key = "test-key"
    route = "/v1/messages"

    def __init__(self, script: Script) -> None:
        self.requests: list[Received] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Condition()
        self._script = script if callable(script) else _in_order(script)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0

    def refusal(self, received: Received) -> tuple[str, Act] | None:
        """The first rule of the service that a request breaks."""
        return first_refusal(received.headers, received.body, frozenset({self.key}))

    def written(self, answer: Answer, model: str) -> bytes:
        """An answer as the service sends it."""
        return answer.body(model)

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> FakeMessages:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def wait_for(self, count: int) -> None:
        """Block until so many requests have come in; 10 seconds at most."""
        with self._lock:
            assert self._lock.wait_for(lambda: len(self.requests) >= count, timeout=10)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)

    async def _stop(self) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False when the connection is over."""
        received = await _receive(reader)
        with self._lock:
            self.requests.append(received)
            self._lock.notify_all()
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        watch = asyncio.ensure_future(reader.read(1))
        try:
            act = self._judge(received)
            delay = asyncio.ensure_future(asyncio.sleep(act.delay_s if isinstance(act, Answer) else 0))
            await asyncio.wait({watch, delay}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                delay.cancel()
                received.went_away = True
                return False
            return await self._perform(act, received, writer, watch)
        finally:
            with self._lock:
                self._at_once -= 1
            if not watch.done():
                # The next request's first byte must not be swallowed: a connection serves one request.
                watch.cancel()

    async def _perform(
        self, act: Act, received: Received, writer: asyncio.StreamWriter, watch: asyncio.Future[bytes]
    ) -> bool:
        model = received.body["model"] if isinstance(received.body, dict) and "model" in received.body else ""
        match act:
            case Answer():
                await _send(writer, 200, self.written(act, model))
            case Refuse():
                await _send(writer, act.status, act.body(), headers=act.headers)
            case Raw():
                await _send(writer, act.status, act.content, content_type=act.content_type, headers=act.headers)
            case Cut():
                await _send_part(writer, self.written(act.answer, model), act)
                if act.reset:
                    _reset(writer)
            case Hang(answer, after):
                if answer is not None:
                    await _send_part(writer, self.written(answer, model), Cut(answer, after))
                await watch
                received.went_away = True
            case Reset():
                _reset(writer)
        return False

    def _judge(self, received: Received) -> Act:
        if received.method != "POST" or received.path.partition("?")[0] != self.route:
            received.refused = "route"
            return Refuse(404, "not_found_error")
        refusal = self.refusal(received)
        if refusal is not None:
            received.refused, act = refusal
            return act
        return self._script(received)


def _in_order(acts: Iterable[Act]) -> Any:
    rest = iter(acts)
    return lambda _: next(rest, Refuse(529, "overloaded_error"))


async def _receive(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = None
    return Received(method, path, headers, body)


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    *,
    content_type: str = "application/json",
    headers: Any = None,
) -> None:
    lines = [
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}",
        f"content-type: {content_type}",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


async def _send_part(writer: asyncio.StreamWriter, body: bytes, cut: Cut) -> None:
    framing = {
        "length": f"content-length: {len(body)}\r\n",
        "chunked": "transfer-encoding: chunked\r\n",
        "close": "",
    }[cut.framing]
    part = body[: cut.after]
    if cut.framing == "chunked" and part:
        part = f"{len(part):x}\r\n".encode() + part + b"\r\n"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{framing}connection: close\r\n\r\n"
    writer.write(head.encode() + part)
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
