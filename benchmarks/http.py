"""What HTTP costs, as markdown: everything in about five minutes, or a part of it.

    python -m benchmarks.http                            overhead, load, three soaks, one large upload
    python -m benchmarks.http --only overhead            each request beside the same call of the library
    python -m benchmarks.http --only load                get, upload of 1,000 documents, search at 1, 4, 16 clients
    python -m benchmarks.http --only soak                mixed load of 64 clients, three times 60 s: statuses and memory
    python -m benchmarks.http --upload-mib 192           peak memory of one upload; with --searched its text is searched

The server runs in a process of its own, as `quarry serve` runs it; the clients are plain asyncio sockets in this one,
kept alive, each sending its next request when it has the answer to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import engine
from benchmarks.load import (
    NAMESPACE,
    Connection,
    Load,
    Server,
    documents,
    get,
    gets,
    question,
    run,
    search,
    searches,
    upload,
    uploads,
)

SCHEMA = {"year": {"type": "int", "is_filterable": True}}
PARTS = ("overhead", "load", "soak", "upload")


def fill(data: Path, options: argparse.Namespace) -> None:
    with engine.open(data, agent="offline") as quarry:
        quarry.upsert(NAMESPACE, documents(options.documents, options.words, 0), SCHEMA)


def overhead(options: argparse.Namespace) -> None:
    """Each call on the library and over HTTP in turn, on twin data directories, so that both meet the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        fill(ours, options)
        fill(theirs, options)
        random_ = random.Random(1)
        batch = documents(options.upload, options.words, 1)
        message = upload("up", batch)

        def pairs(kind: str) -> Iterator[tuple[Callable[[], object], bytes]]:
            while True:
                match kind:
                    case "get":
                        wanted = f"0-{random_.randrange(options.documents)}"
                        yield lambda wanted=wanted: quarry.get(NAMESPACE, wanted), get(wanted)
                    case "search":
                        asked = question(random_)
                        yield lambda asked=asked: quarry.search(NAMESPACE, **asked), search(asked)
                    case _:
                        yield lambda: quarry.upsert("up", batch), message

        print("| request | library p50 ms | HTTP p50 ms | overhead ms | overhead % | library CPU ms | server CPU ms |")
        print("|---|---|---|---|---|---|---|")
        with engine.open(ours, agent="offline") as quarry, Server(theirs) as server:
            for kind, times in (("get", 1_000), ("search", 150), ("upload", 30)):
                print(asyncio.run(paired(kind, server, pairs(kind), times)), flush=True)


async def paired(kind: str, server: Server, pairs: Iterator[tuple[Callable[[], object], bytes]], times: int) -> str:
    connection = await Connection.open(server.url)
    library: list[float] = []
    http: list[float] = []
    cpu: list[float] = []
    for number in range(-max(2, times // 10), times):
        call, message = next(pairs)
        if number == 0:
            server_cpu = server.cpu_seconds()
        # The collector of this process runs between the two, not in either.
        begin, cpu_begin = time.perf_counter(), time.process_time()
        call()
        own, own_cpu = (time.perf_counter() - begin) * 1_000, (time.process_time() - cpu_begin) * 1_000
        status, over = await connection.send(message)
        assert status == 200, status
        if number >= 0:
            library.append(own)
            http.append(over)
            cpu.append(own_cpu)
    server_ms = (server.cpu_seconds() - server_cpu) * 1_000 / times
    connection.close()
    extra = statistics.median(b - a for a, b in zip(library, http, strict=True))
    base = statistics.median(library)
    return (
        f"| {kind} | {base:.2f} | {statistics.median(http):.2f} | {extra:.2f} | {100 * extra / base:.0f} "
        f"| {statistics.mean(cpu):.2f} | {server_ms:.2f} |"
    )


def load(options: argparse.Namespace) -> None:
    makes = {"get": gets(options.documents), "upload": uploads(options.upload, options.words), "search": searches}
    print("| request | clients | requests/s | p50 ms | p99 ms | failed | server CPU ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        fill(data, options)
        with Server(data) as server:
            for make in makes.values():
                asyncio.run(run(server.url, make, 1, 1.0))
            for name, make in makes.items():
                for clients in options.clients:
                    cpu = server.cpu_seconds()
                    seen = asyncio.run(run(server.url, make, clients, options.seconds))
                    cpu_ms = round((server.cpu_seconds() - cpu) * 1_000 / seen.statuses.total(), 2)
                    cells = (name, clients, seen.requests_per_s, *seen.percentiles(name), seen.failed, cpu_ms)
                    print("|", " | ".join(map(str, cells)), "|")
                    sys.stdout.flush()


def mixed(options: argparse.Namespace, seed: int) -> Iterator[bytes]:
    """Of 100 requests 80 gets, 15 searches and 5 uploads of 20 documents into one of eight namespaces."""
    kinds = (gets(options.documents)(seed), searches(seed), uploads(20, options.words)(seed % 8))
    random_ = random.Random(seed)
    while True:
        yield next(random_.choices(kinds, (80, 15, 5))[0])


def soak(options: argparse.Namespace) -> None:
    """Mixed load again and again on one server. Memory is read while it runs and after it, when nothing runs."""
    kinds = ("get", "search", "upload")
    latencies = " | ".join(f"{kind} p50 and p99 ms" for kind in kinds)
    print(f"| soak | requests/s | {latencies} | statuses | resident MiB, then at the end and 2 s later |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        fill(data, options)
        with Server(data) as server:
            for number in range(1, options.soaks + 1):
                seen, memory = asyncio.run(soaked(server, options, number))
                taken = " | ".join("{:.0f}, {:.0f}".format(*seen.percentiles(kind)) for kind in kinds)
                statuses = " ".join(f"{status}: {count}" for status, count in sorted(seen.statuses.items()))
                resident = " ".join(f"{mib:.0f}" for mib in memory)
                print(f"| {number} | {seen.requests_per_s} | {taken} | {statuses} | {resident} |")
                sys.stdout.flush()


async def soaked(server: Server, options: argparse.Namespace, number: int) -> tuple[Load, list[float]]:
    memory: list[float] = []
    task = asyncio.create_task(
        run(
            server.url,
            lambda seed: mixed(options, 1_000 * number + seed),
            options.soak_clients,
            options.soak_seconds,
        )
    )
    while not task.done():
        memory.append(server.resident_mib())
        await asyncio.wait({task}, timeout=options.soak_seconds / 4)
    memory.append(server.resident_mib())
    await asyncio.sleep(2.0)
    memory.append(server.resident_mib())
    return task.result(), memory


def large_upload(options: argparse.Namespace) -> None:
    """One upload into a server that has served one before: its own peak, not that of the first use of everything."""
    size = options.upload_mib * 2**20 // 8_000
    if options.searched:
        made = documents(8_000, size // 44 * 10, 3)
    else:
        made = [document | {"filler": "x" * (size - 270)} for document in documents(8_000, 20, 3)]
    message = upload("large", made, {"text": {"type": "string", "is_searchable": True}})
    del made
    print("| body MiB | searched | seconds | status | resident MiB before | peak MiB | peak over before, in bodies |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "data") as server:
        asyncio.run(run(server.url, uploads(1, 10), 1, 1.0))
        before = server.resident_mib()
        seen = asyncio.run(run(server.url, lambda _: iter([message]), 1, 3_600))
        body, peak = len(message) / 2**20, server.peak_mib()
        searched = "yes" if options.searched else "no"
        statuses = " ".join(map(str, Counter(seen.statuses)))
        print(
            f"| {body:.0f} | {searched} | {seen.seconds:.1f} | {statuses} | {before:.0f} | {peak:.0f} "
            f"| {(peak - before) / body:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    parser.add_argument("--documents", type=int, default=5_000, help="documents in the namespace that is searched")
    parser.add_argument("--words", type=int, default=100, help="words a document")
    parser.add_argument("--upload", type=int, default=1_000, help="documents an upload")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=5.0, help="of load for each row")
    parser.add_argument("--soaks", type=int, default=3)
    parser.add_argument("--soak-seconds", type=float, default=60.0)
    parser.add_argument("--soak-clients", type=int, default=64)
    parser.add_argument("--upload-mib", type=int, default=None, help="body of the large upload; given, only that part")
    parser.add_argument("--searched", action="store_true", help="the large upload's text is searched")
    options = parser.parse_args()
    only = options.only or (None if options.upload_mib is None else "upload")
    options.upload_mib = options.upload_mib or 192
    for part, measure in zip(PARTS, (overhead, load, soak, large_upload), strict=True):
        if only in {None, part}:
            print(f"\n{part}\n", flush=True)
            measure(options)


if __name__ == "__main__":
    main()
