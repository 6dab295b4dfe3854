"""What lists and counts of many namespaces cost over HTTP: `/metrics`, `/v1/namespaces`, `/v1/namespaces/stats`.

    python -m benchmarks.listing                     10,000 namespaces, of which none is opened
    python -m benchmarks.listing --namespaces 100000

The namespaces are rows of the catalog with a folder each that nobody may open. Times are of one client; `cpu` is the
server's processor time a request.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import engine
from benchmarks.load import KEY, Connection, Server
from benchmarks.report import table
from engine.storage.catalog_file import CatalogFile

ROUTES = ("/metrics", "/v1/namespaces", "/v1/namespaces?limit=100", "/v1/namespaces/stats")
TIMES = 20
SCHEMA = {"title": {"type": "string", "is_searchable": True}, "year": {"type": "int", "is_filterable": True}}


def fill(data: Path, count: int) -> None:
    """A data directory of one namespace, whose row is then repeated under other names."""
    with engine.open(data, agent="offline") as quarry:
        quarry.upsert("tenant", [{"id": "1", "title": "A title", "year": 2026}], SCHEMA)
    file = CatalogFile.open(data)
    with file.write() as cursor:
        cursor.execute(
            "INSERT INTO namespaces SELECT * EXCLUDE (n) REPLACE (id + n AS id, name || '-' || n AS name, 0 AS seq) "
            "FROM namespaces, range(1, $1) AS more(n)",
            [count],
        )
    file.close()
    for number in range(2, count + 1):
        (data / "namespaces" / str(number)).mkdir()


async def measured(server: Server, route: str) -> list[str]:
    connection = await Connection.open(server.url)
    message = f"GET {route} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
    taken: list[float] = []
    cpu = 0.0
    for number in range(-3, TIMES):
        if number == 0:
            cpu = server.cpu_seconds()
        begin = time.perf_counter()
        status, _ = await connection.send(message)
        assert status == 200, status
        if number >= 0:
            taken.append(1000 * (time.perf_counter() - begin))
    cpu = 1000 * (server.cpu_seconds() - cpu) / TIMES
    connection.close()
    return [route, f"{statistics.median(taken):.1f}", f"{max(taken):.1f}", f"{cpu:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--namespaces", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quarry-listing-") as folder:
        data = Path(folder) / "data"
        fill(data, options.namespaces)
        begin = time.perf_counter()
        with Server(data) as server:
            started = time.perf_counter() - begin
            rows = [asyncio.run(measured(server, route)) for route in ROUTES]
    print(f"{options.namespaces:,} namespaces; the server answers after {started:.1f} s\n")
    print(table(["request", "p50 ms", "slowest ms", "cpu ms"], rows))


if __name__ == "__main__":
    main()
