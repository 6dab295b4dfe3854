"""What HTTP costs: requests a second and latencies under load from another process, beside the same calls in Python.

    python -m benchmarks.http                 get, upload of 1,000 documents and search at 1, 4 and 16 clients
    python -m benchmarks.http --soak 60       mixed load of 64 clients: statuses, and memory over time
    python -m benchmarks.http --large 200     peak memory of one upload of 200 MB

The server runs in a process of its own, as `quarry serve` runs it; the clients are plain asyncio sockets in this one,
kept alive, each sending its next request when it has the answer to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import engine

KEY = "key-of-the-benchmark"
NAMESPACE = "bench"
WORDS = [f"{a}{b}" for a in ("bar", "cel", "dor", "fen", "gal", "hol", "jun", "kem", "lor", "mip") for b in "aeiouy"]
MAIN = """
from api.server import serve
from api.settings import from_environment
raise SystemExit(serve(from_environment()))
"""


@dataclass
class Load:
    """What one run saw. Latencies in milliseconds."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def row(self) -> dict[str, float]:
        ordered = sorted(self.latencies)
        return {
            "requests_per_s": round(len(ordered) / self.seconds, 1),
            "p50_ms": round(at(ordered, 0.50), 2),
            "p99_ms": round(at(ordered, 0.99), 2),
            "failed": sum(count for status, count in self.statuses.items() if status >= 400),
        }


def at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


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


def request(method: str, path: str, body: object = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n"
    if content:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


async def client(host: str, port: int, requests: Iterator[bytes], deadline: float, load: Load) -> None:
    reader, writer = await asyncio.open_connection(host, port, limit=2**24)
    try:
        while time.perf_counter() < deadline:
            message = next(requests, None)
            if message is None:
                break
            begin = time.perf_counter()
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            assert length, head
            await reader.readexactly(int(length[1]))
            load.latencies.append((time.perf_counter() - begin) * 1_000)
            load.statuses[int(head[9:12])] += 1
    finally:
        writer.close()


async def run(url: str, make: Callable[[int], Iterator[bytes]], clients: int, seconds: float) -> Load:
    target, load = urlsplit(url), Load()
    begin = time.perf_counter()
    work = [
        client(str(target.hostname), int(target.port or 80), make(n), begin + seconds, load) for n in range(clients)
    ]
    await asyncio.gather(*work)
    load.seconds = time.perf_counter() - begin
    return load


class Server:
    def __init__(self, data: Path) -> None:
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
        self.process.wait(30)

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1_024  # type: ignore[index]

    def cpu_seconds(self) -> float:
        """User and system time so far; unlike wall time it does not depend on what else the machine does."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1_024  # type: ignore[index]


def gets(count: int) -> Callable[[int], Iterator[bytes]]:
    def make(seed: int) -> Iterator[bytes]:
        random_ = random.Random(seed)
        while True:
            yield request("GET", f"/v1/namespaces/{NAMESPACE}/documents/0-{random_.randrange(count)}")

    return make


def question(random_: random.Random) -> dict[str, str]:
    return {"objective": " ".join(random_.choices(WORDS, k=4)), "context": " ".join(random_.choices(WORDS, k=4))}


def searches(seed: int) -> Iterator[bytes]:
    random_ = random.Random(seed)
    while True:
        yield request("POST", f"/v1/namespaces/{NAMESPACE}/search", question(random_))


def uploads(size: int, words: int) -> Callable[[int], Iterator[bytes]]:
    def make(seed: int) -> Iterator[bytes]:
        # A namespace for each client; the same documents are replaced again and again.
        message = request(
            "POST", f"/v1/namespaces/up-{seed}/documents", {"documents": documents(size, words, seed + 1)}
        )
        while True:
            yield message

    return make


def in_python(data: Path, count: int, size: int, words: int, repeats: int) -> dict[str, tuple[float, float]]:
    """Of the same calls on the library, on the data that the server will serve: median wall and mean CPU, in ms."""
    random_ = random.Random(1)
    found: dict[str, tuple[float, float]] = {}
    with engine.open(data, agent="offline") as quarry:
        quarry.upsert(NAMESPACE, documents(count, words, 0), {"year": {"type": "int", "is_filterable": True}})
        batch = documents(size, words, 1)
        calls: dict[str, tuple[int, Callable[[], object]]] = {
            "get": (repeats, lambda: quarry.get(NAMESPACE, f"0-{random_.randrange(count)}")),
            "search": (repeats // 10, lambda: quarry.search(NAMESPACE, **question(random_))),
            "upload": (5, lambda: quarry.upsert("up-python", batch)),
        }
        for name, (times, call) in calls.items():
            call()
            taken: list[float] = []
            cpu = time.process_time()
            for _ in range(times):
                begin = time.perf_counter()
                call()
                taken.append((time.perf_counter() - begin) * 1_000)
            found[name] = statistics.median(taken), (time.process_time() - cpu) * 1_000 / times
    return found


def compare(options: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        python = in_python(data, options.documents, options.upload, options.words, 500)
        makes = {"get": gets(options.documents), "search": searches, "upload": uploads(options.upload, options.words)}
        rows: list[dict[str, object]] = []
        with Server(data) as server:
            for make in makes.values():
                asyncio.run(run(server.url, make, 1, 1.0))
            for name, make in makes.items():
                for clients in options.clients:
                    cpu = server.cpu_seconds()
                    load = asyncio.run(run(server.url, make, clients, options.seconds))
                    cpu_ms = (server.cpu_seconds() - cpu) * 1_000 / len(load.latencies)
                    row: dict[str, object] = {
                        "what": name,
                        "clients": clients,
                        **load.row(),
                        "cpu_ms": round(cpu_ms, 2),
                    }
                    if clients == 1:
                        wall, python_cpu = python[name]
                        over = at(sorted(load.latencies), 0.5) - wall
                        row |= {
                            "python_p50_ms": round(wall, 2),
                            "python_cpu_ms": round(python_cpu, 2),
                            "overhead_ms": round(over, 2),
                            "overhead_percent": round(100 * over / wall, 1),
                            "overhead_cpu_ms": round(cpu_ms - python_cpu, 2),
                        }
                    rows.append(row)
                    print(json.dumps(row), file=sys.stderr)
            return {"rows": rows, "peak_mib": round(server.peak_mib(), 1)}


def soak(options: argparse.Namespace) -> dict[str, object]:
    """All kinds of requests at once for a while: failures by status, and memory over time."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with engine.open(data, agent="offline") as quarry:
            quarry.upsert(NAMESPACE, documents(options.documents, options.words, 0))

        def mixed(seed: int) -> Iterator[bytes]:
            get, search = gets(options.documents)(seed), searches(seed)
            upload = uploads(20, options.words)(seed % 8)
            random_ = random.Random(seed)
            while True:
                yield next(random_.choices((get, search, upload), (80, 15, 5))[0])

        memory: list[float] = []
        with Server(data) as server:

            async def watched() -> Load:
                task = asyncio.create_task(run(server.url, mixed, options.soak_clients, options.soak))
                while not task.done():
                    memory.append(round(server.resident_mib(), 1))
                    await asyncio.wait({task}, timeout=options.soak / 12)
                return task.result()

            load = asyncio.run(watched())
        return {"clients": options.soak_clients, **load.row(), "statuses": dict(load.statuses), "resident_mib": memory}


def large_upload(options: argparse.Namespace) -> dict[str, object]:
    """Peak memory of one upload of so many megabytes, in 8,000 documents whose long text is not searched."""
    filler = "x" * (options.large * 125)
    body = {
        "documents": [document | {"filler": filler} for document in documents(8_000, 20, 3)],
        "schema": {"text": {"type": "string", "is_searchable": True}},
    }
    message = request("POST", "/v1/namespaces/large/documents", body)
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "data") as server:
        asyncio.run(run(server.url, uploads(1, 10), 1, 1.0))
        before = server.resident_mib()
        begin = time.perf_counter()
        load = asyncio.run(run(server.url, lambda _: iter([message]), 1, 3_600))
        return {
            "body_mib": round(len(message) / 2**20, 1),
            "documents": len(body["documents"]),
            "seconds": round(time.perf_counter() - begin, 1),
            "statuses": dict(load.statuses),
            "resident_before_mib": round(before, 1),
            "peak_mib": round(server.peak_mib(), 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5_000, help="documents in the namespace that is searched")
    parser.add_argument("--words", type=int, default=100, help="words a document")
    parser.add_argument("--upload", type=int, default=1_000, help="documents an upload")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=5.0, help="of load for each row")
    parser.add_argument("--soak", type=float, default=0.0, help="seconds of mixed load, instead of the table")
    parser.add_argument("--soak-clients", type=int, default=64)
    parser.add_argument("--large", type=int, default=0, help="megabytes of one upload, instead of the table")
    options = parser.parse_args()
    found = soak(options) if options.soak else large_upload(options) if options.large else compare(options)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
