"""The stores behind ``quarry serve``: one server on the folder, one and two on the database.

While both servers of the database are under load, one stores, removes and revokes, and the other is asked at once: how
often it did not know is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from benchmarks.load import KEY, Load, Server, request, run
from benchmarks.stores.texts import Source

CLIENTS = 4
Told = Callable[[str, dict[str, str]], None]


def served(folder: Path, dsn: str, namespace: str, questions: Source, seconds: float, told: Told) -> None:
    """Retrievals a second over HTTP, each load `seconds` long, and what one of two servers did not know."""

    def make(_: int) -> Iterator[bytes]:
        while True:
            yield request("POST", f"/v1/namespaces/{namespace}/retrieve", {"text": questions.question(), "k": 10})

    def load(servers: list[Server], clients: int) -> str:
        async def together() -> list[Load]:
            return await asyncio.gather(*(run(each.url, make, clients // len(servers), seconds) for each in servers))

        before = sum(each.cpu_seconds() for each in servers)
        seen = asyncio.run(together())
        spent = sum(each.cpu_seconds() for each in servers) - before
        answered = sum(each.statuses.total() for each in seen)
        failed = sum(each.failed for each in seen)
        rate = sum(each.requests_per_s for each in seen)
        return f"{rate:.1f} ({1_000 * spent / max(answered, 1):.1f} ms CPU" + (f", {failed} failed)" if failed else ")")

    rates: dict[int, dict[str, str]] = {1: {}, CLIENTS: {}}
    for name, data in (("folder", folder), ("database", dsn)):
        with Server(data) as server:
            load([server], 1)
            for clients, found in rates.items():
                found[name] = load([server], clients)
    with Server(dsn) as one, Server(dsn) as other:
        load([one, other], 2)
        rates[CLIENTS]["two servers"] = load([one, other], CLIENTS)
        for clients, found in rates.items():
            told(f"HTTP retrievals/s, {clients} client(s)", found)
        with ThreadPoolExecutor(1) as pool:
            checking = pool.submit(checked, one.url, other.url, namespace, seconds)
            load([one, other], 2)
            told("one server does, the other knows", checking.result())


def checked(one: str, other: str, namespace: str, seconds: float) -> dict[str, str]:
    """What the servers at two addresses do not know of one another's writes, taking turns, for so long."""
    seen = Counter[str]()
    documents = f"/v1/namespaces/{namespace}/documents"
    until = time.monotonic() + seconds
    with httpx.Client(headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as client:
        while time.monotonic() < until:
            one, other, rounds = other, one, seen["rounds"]
            name = f"told{rounds}"
            content = {"id": name, "title": "Told", "body": f"The zeppelin{rounds} lands at the other server."}
            client.post(one + documents, json={"documents": [content]}).raise_for_status()
            asked = client.post(
                f"{other}/v1/namespaces/{namespace}/retrieve", json={"text": f"zeppelin{rounds}", "k": 3}
            )
            seen["not found"] += name not in {hit["document_id"] for hit in asked.json()["hits"]}
            seen["not read"] += client.get(f"{other}{documents}/{name}").status_code != 200
            client.post(f"{one}{documents}/delete", json={"document_ids": [name]}).raise_for_status()
            seen["not removed"] += client.get(f"{other}{documents}/{name}").status_code != 404
            made = client.post(f"{one}/v1/api_keys", json={"name": name, "scopes": ["read"]}).json()
            theirs = {"Authorization": f"Bearer {made['raw_key']}"}
            seen["not accepted"] += client.get(f"{other}/v1/namespaces", headers=theirs).status_code != 200
            client.delete(f"{one}/v1/api_keys/{made['api_key']['id']}").raise_for_status()
            for each in (other, one):
                seen["not revoked"] += client.get(f"{each}/v1/namespaces", headers=theirs).status_code != 401
            seen["rounds"] += 1
    return {name: str(count) for name, count in seen.items()}
