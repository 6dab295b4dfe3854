"""Servers and their database are killed under load, and every operation that was acknowledged is looked for after.

Each client has documents of its own, so that what a document may hold is known: the last acknowledged state, or that
of the one operation which was not answered; after that it is left alone, for the operation may still happen. The
observers write the same documents as one another at both servers; what they see of each must have an order.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.api.serving import Api
from tests.faults.extent import runs
from tests.faults.histories import is_linearizable
from tests.faults.tally import Tally
from tests.faults.traffic import Observer, histories
from tests.shared.servers import Database, Server
from tests.unit.cli.running import COMMAND, environment

pytestmark = pytest.mark.xdist_group("shared")

CLIENTS = 3
LOAD_S = 0.4
"""Of load before a kill, and once both servers answer again."""
GONE = None


@dataclass
class Client:
    """Works on documents of its own through either server until it is told to stop.

    Attributes:
        may_be: for each document, the versions that it may have now; `GONE` for none.
        answered: how many operations were acknowledged, by kind.
    """

    number: int
    urls: tuple[str, ...]
    may_be: dict[str, set[int | None]] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    version: int = 0

    def run(self, stopping: threading.Event) -> None:
        chance = random.Random(f"{self.number} {self.version}")
        while not stopping.is_set():
            document = f"c{self.number}-{chance.randrange(40)}-{len(self.retired)}"
            operation = chance.choice((self._write, self._write, self._remove, self._read, self._find))
            try:
                operation(Api(chance.choice(self.urls)), document)
            except httpx.TransportError:
                stopping.wait(0.05)

    def _write(self, api: Api, document: str) -> None:
        self.version += 1
        version = self.version
        self._change(document, version, lambda: api.upload("load", content(document, version)), "written")

    def _remove(self, api: Api, document: str) -> None:
        self._change(
            document,
            GONE,
            lambda: api.post("/v1/namespaces/load/documents/delete", json={"document_ids": [document]}),
            "removed",
        )

    def _change(self, document: str, after: int | None, ask: Callable[[], httpx.Response], kind: str) -> None:
        held = self.may_be.setdefault(document, {GONE})
        held.add(after)
        try:
            status = ask().status_code
        except httpx.TransportError:
            self.retired.add(document)
            raise
        if status == 200:
            self.may_be[document] = {after}
            self.answered[kind] = self.answered.get(kind, 0) + 1
        elif status == 503:
            # Broken off: nothing says whether before or after the commit.
            self.retired.add(document)
        else:
            self.faults.append(f"{kind} {document}: {status}")

    def _read(self, api: Api, document: str) -> None:
        answer = api.get(f"/v1/namespaces/load/documents/{document}")
        if answer.status_code != 503:
            self.expect(document, answer.json()["version"] if answer.status_code == 200 else GONE)
            self.answered["read"] = self.answered.get("read", 0) + 1

    def _find(self, api: Api, document: str) -> None:
        answer = api.post("/v1/namespaces/load/retrieve", json={"text": f"cargo {document}", "k": 3})
        if answer.status_code not in (200, 503):
            self.faults.append(f"retrieve: {answer.status_code} {answer.text[:200]}")
        self.answered["found"] = self.answered.get("found", 0) + (answer.status_code == 200)

    def expect(self, document: str, version: int | None) -> None:
        """Note a fault where the document cannot hold this."""
        if version not in self.may_be.get(document, {GONE}):
            self.faults.append(f"{document} holds {version}, not one of {self.may_be.get(document)}")


def content(document: str, version: int) -> dict[str, object]:
    return {
        "id": document,
        "body": f"The cargo of {document} was weighed {version} times on the quay.",
        "version": version,
    }


def listed(api: Api) -> dict[str, int]:
    """Every document of the namespace and its version."""
    held: dict[str, int] = {}
    cursor = ""
    while True:
        answer = api.get(f"/v1/namespaces/load/documents?limit=1000{cursor}")
        assert answer.status_code == 200, answer.text
        held |= {document["id"]: document["version"] for document in answer.json()["documents"]}
        if not (following := answer.json().get("next_cursor")):
            return held
        cursor = f"&cursor={following}"


def check_all(clients: list[Client], servers: tuple[Server, Server]) -> None:
    """Every document of every client is at both servers as it was acknowledged, and there are no others."""
    for server in servers:
        held = listed(server.api)
        for client in clients:
            for document in client.may_be:
                client.expect(document, held.get(document))
        known = {document for client in clients for document in client.may_be} | {"first"}
        assert held.keys() <= known
        (stats,) = [n for n in server.api.get("/v1/namespaces/stats").json()["results"] if n["name"] == "load"]
        assert stats["document_count"] == len(held)
    assert [fault for client in clients for fault in client.faults] == []


def test_nothing_that_was_acknowledged_is_lost_when_servers_and_their_database_are_killed(
    tmp_path: Path, tally: Tally
) -> None:
    chance = random.Random(7)
    with (
        Database() as database,
        Server(database.address, tmp_path / "one.log") as one,
        Server(database.address, tmp_path / "two.log") as other,
    ):

        def kill_server(victim: Server) -> None:
            victim.kill()
            victim.start()

        def kill_database() -> None:
            database.kill()
            time.sleep(chance.random())
            database.start()

        kills: list[tuple[str, Callable[[], None]]] = [
            ("one of two servers", lambda: kill_server(one)),
            ("the database", kill_database),
            ("a connection's process in the database", database.kill_backend),
            ("one of two servers", lambda: kill_server(other)),
        ]
        one.wait().api.upload("load", content("first", 0))
        other.wait()
        key = one.api.new_key(scopes=["admin"])
        session = one.api.search("load", "What was weighed on the quay?").json()["session_id"]
        clients = [Client(number, (one.url, other.url)) for number in range(CLIENTS)]
        for number in range(runs(3, 50)):
            victim, kill = kills[number % len(kills)]
            stopping = threading.Event()
            with (
                tally.trial(f"`kill -9` of {victim}, two servers on PostgreSQL under mixed load") as trial,
                ThreadPoolExecutor(CLIENTS) as pool,
            ):
                working = [pool.submit(client.run, stopping) for client in clients]
                try:
                    time.sleep(LOAD_S * (0.5 + chance.random()))
                    with trial.recovering():
                        kill()
                        one.wait()
                        other.wait()
                    time.sleep(LOAD_S)
                finally:
                    stopping.set()
                for done in working:
                    done.result()
                check_all(clients, (one, other))
        assert all(client.answered.get(kind) for client in clients for kind in ("written", "read"))
        # What was made before the kills is there too, and goes on at either server.
        assert other.api.with_key(key).get("/v1/namespaces").status_code == 200
        follow = other.api.post(f"/v1/namespaces/load/search/{session}", json={"message": "And where?"})
        assert follow.status_code == 200, follow.text
        # Read as the operator does, beside the servers.
        done = subprocess.run(
            [*COMMAND, "check"],
            env=environment(None, QUARRY_DATA=database.address),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        observed(tally, database, one, other)


def observed(tally: Tally, database: Database, one: Server, other: Server) -> None:
    """Clients that share their documents see an order of each, at whichever server, through kills of connections."""
    names = [f"d{number}" for number in range(5)]
    observers = [Observer(number, names) for number in range(6)]
    one.api.upload("n", {"id": "always", "value": "there"})
    for _ in range(runs(1, 12)):
        with ThreadPoolExecutor(len(observers)) as pool:
            working = [pool.submit(observer.run, (one.api, other.api), runs(12, 40)) for observer in observers]
            time.sleep(LOAD_S / 2)
            database.kill_backend()
            for done in working:
                done.result()
    for name, history in histories(observers).items():
        with tally.trial("a document that six clients write and read at two servers on PostgreSQL, through kills"):
            assert is_linearizable(history), (name, sorted(history))
