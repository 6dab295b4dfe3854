"""A server in a process of its own, and plain asyncio clients that keep it busy, for other benchmarks."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

KEY = "key-of-the-benchmark"
NAMESPACE = "bench"
WORDS = [f"{a}{b}" for a in ("bar", "cel", "dor", "fen", "gal", "hol", "jun", "kem", "lor", "mip") for b in "aeiouy"]
MAIN = """
from api.server import serve
from api.settings import from_environment
raise SystemExit(serve(from_environment()))
"""

Requests = Callable[[int], Iterator[bytes]]
"""The requests of the client of that number, one after the other."""


@dataclass
class Load:
    """What one run saw. Latencies in milliseconds, by kind of request."""

    seconds: float = 0.0
    latencies: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def saw(self, message: bytes, status: int, taken_ms: float) -> None:
        self.latencies.setdefault(kind_of(message), []).append(taken_ms)
        self.statuses[status] += 1

    @property
    def requests_per_s(self) -> float:
        return round(self.statuses.total() / self.seconds, 1)

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.statuses.items() if status >= 400)

    def percentiles(self, kind: str) -> tuple[float, float]:
        """Median and 99th percentile."""
        ordered = sorted(self.latencies[kind])
        return round(at(ordered, 0.50), 2), round(at(ordered, 0.99), 2)


def at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Server:
    """`quarry serve` with the offline agent."""

    def __init__(self, data: Path | str) -> None:
        self.data = data

    def __enter__(self) -> Server:
        environment = {
            **os.environ,
            "QUARRY_DATA": str(self.data),
            "QUARRY_PORT": "0",
            "QUARRY_API_KEY": KEY,
            "QUARRY_AGENT": "offline",
            "QUARRY_LOG_LEVEL": "warning",
            "QUARRY_SEARCHES": "0",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN], env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().split()[-1]
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)

    def resident_mib(self) -> float:
        return self._status("VmRSS")

    def peak_mib(self) -> float:
        return self._status("VmHWM")

    def cpu_seconds(self) -> float:
        """User and system time so far; unlike wall time it does not depend on what else the machine does."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1_024  # type: ignore[index]


class Connection:
    """One kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, url: str) -> Connection:
        target = urlsplit(url)
        return cls(*await asyncio.open_connection(target.hostname, target.port, limit=2**24))

    async def send(self, message: bytes) -> tuple[int, float]:
        """Status and milliseconds until the last byte of the answer."""
        begin = time.perf_counter()
        self._writer.write(message)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length, head
        await self._reader.readexactly(int(length[1]))
        return int(head[9:12]), (time.perf_counter() - begin) * 1_000

    def close(self) -> None:
        self._writer.close()


async def client(url: str, requests: Iterator[bytes], deadline: float, load: Load) -> None:
    connection = await Connection.open(url)
    try:
        while time.perf_counter() < deadline and (message := next(requests, None)) is not None:
            load.saw(message, *await connection.send(message))
    finally:
        connection.close()


async def run(url: str, make: Requests, clients: int, seconds: float) -> Load:
    load = Load()
    begin = time.perf_counter()
    await asyncio.gather(*(client(url, make(number), begin + seconds, load) for number in range(clients)))
    load.seconds = time.perf_counter() - begin
    return load


def documents(count: int, words: int, seed: int) -> list[dict[str, object]]:
    random_ = random.Random(seed)
    return [
        {
            "id": f"{seed}-{n}",
            "title": " ".join(random_.choices(WORDS, k=5)),
            "text": ". ".join(" ".join(random_.choices(WORDS, k=10)) for _ in range(words // 10)),
            "year": 2000 + n % 25,
        }
        for n in range(count)
    ]


def question(random_: random.Random) -> dict[str, str]:
    return {"objective": " ".join(random_.choices(WORDS, k=4)), "context": " ".join(random_.choices(WORDS, k=4))}


def request(method: str, path: str, body: object = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n"
    if content:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


def kind_of(message: bytes) -> str:
    """What a request asks for: ``get``, ``search``, ``retrieve`` or ``upload``."""
    method, path, _ = message.split(b" ", 2)
    if method == b"GET":
        return "get"
    asked = path.rpartition(b"/")[2].decode()
    return asked if asked in {"search", "retrieve"} else "upload"


def get(document_id: str) -> bytes:
    return request("GET", f"/v1/namespaces/{NAMESPACE}/documents/{document_id}")


def search(asked: dict[str, str]) -> bytes:
    return request("POST", f"/v1/namespaces/{NAMESPACE}/search", asked)


def upload(namespace: str, body: list[dict[str, object]], schema: object = None) -> bytes:
    return request(
        "POST",
        f"/v1/namespaces/{namespace}/documents",
        {"documents": body} | ({} if schema is None else {"schema": schema}),
    )


def gets(count: int) -> Requests:
    def make(seed: int) -> Iterator[bytes]:
        random_ = random.Random(seed)
        while True:
            yield get(f"0-{random_.randrange(count)}")

    return make


def searches(seed: int) -> Iterator[bytes]:
    random_ = random.Random(seed)
    while True:
        yield search(question(random_))


def uploads(size: int, words: int) -> Requests:
    def make(seed: int) -> Iterator[bytes]:
        # A namespace for each client; the same documents are replaced again and again.
        message = upload(f"up-{seed}", documents(size, words, seed + 1))
        while True:
            yield message

    return make
