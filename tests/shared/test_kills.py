"""Servers and their database are killed under load, and every operation that was acknowledged is looked for after.

Each client has documents of its own, so that what a document may hold is known: the last acknowledged state, or that
of the one operation which was not answered; after that it is left alone, for the operation may still happen.
"""

from __future__ import annotations

import os
import random
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.api.serving import Api
from tests.shared.servers import Database, Server
from tests.unit.cli.running import COMMAND, environment

pytestmark = pytest.mark.xdist_group("shared")

KILLS = 50 if os.getenv("QUARRY_FAULTS") == "long" else 3
CLIENTS = 3
PAUSE_S = 1.0
"""Of load between two kills, once both servers answer."""
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
    stopping: threading.Event
    may_be: dict[str, set[int | None]] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    version: int = 0

    def run(self) -> None:
        chance = random.Random(self.number)
        while not self.stopping.is_set():
            document = f"c{self.number}-{chance.randrange(40)}-{len(self.retired)}"
            operation = chance.choice((self._write, self._write, self._remove, self._read, self._find))
            try:
                operation(Api(chance.choice(self.urls)), document)
            except httpx.TransportError:
                self.stopping.wait(0.05)

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

    def _change(self, document: str, after: int | None, ask, kind: str) -> None:  # type: ignore[no-untyped-def]
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
        self.look(api, document)

    def _find(self, api: Api, document: str) -> None:
        answer = api.post("/v1/namespaces/load/retrieve", json={"text": f"cargo {document}", "k": 3})
        if answer.status_code not in (200, 503):
            self.faults.append(f"retrieve: {answer.status_code} {answer.text[:200]}")
        self.answered["found"] = self.answered.get("found", 0) + (answer.status_code == 200)

    def look(self, api: Api, document: str) -> bool:
        """Whether the document could be read; what it holds is checked."""
        answer = api.get(f"/v1/namespaces/load/documents/{document}")
        if answer.status_code == 503:
            return False
        version = answer.json()["version"] if answer.status_code == 200 else GONE
        if version not in self.may_be.get(document, {GONE}):
            self.faults.append(f"{document} holds {version}, not one of {self.may_be.get(document)}")
        self.answered["read"] = self.answered.get("read", 0) + 1
        return True


def content(document: str, version: int) -> dict[str, object]:
    return {
        "id": document,
        "body": f"The cargo of {document} was weighed {version} times on the quay.",
        "version": version,
    }


def test_nothing_that_was_acknowledged_is_lost_when_servers_and_their_database_are_killed(tmp_path: Path) -> None:
    chance = random.Random(7)
    with (
        Database() as database,
        Server(database.address, tmp_path / "one.log") as one,
        Server(database.address, tmp_path / "two.log") as other,
    ):
        one.wait().api.upload("load", content("first", 0))
        other.wait()
        key = one.api.new_key(scopes=["admin"])
        session = one.api.search("load", "What was weighed on the quay?").json()["session_id"]
        stopping = threading.Event()
        clients = [Client(number, (one.url, other.url), stopping) for number in range(CLIENTS)]
        threads = [threading.Thread(target=client.run) for client in clients]
        for thread in threads:
            thread.start()
        try:
            for number in range(KILLS):
                time.sleep(PAUSE_S)
                kind = number % 4
                if kind in (0, 3):
                    victim = (one, other)[kind == 3]
                    victim.kill()
                    victim.start()
                elif kind == 1:
                    database.kill()
                    time.sleep(chance.random())
                    database.start()
                else:
                    database.kill_backend()
                one.wait()
                other.wait()
        finally:
            stopping.set()
            for thread in threads:
                thread.join()
        for client in clients:
            for document in client.may_be:
                assert client.look(one.api, document)
                assert client.look(other.api, document)
        assert [fault for client in clients for fault in client.faults] == []
        assert all(client.answered.get(kind) for client in clients for kind in ("written", "read"))
        # What was made before the kills is there too, and goes on at either server.
        assert other.api.with_key(key).get("/v1/namespaces").status_code == 200
        follow = other.api.post(f"/v1/namespaces/load/search/{session}", json={"message": "And where?"})
        assert follow.status_code == 200, follow.text
        held = one.api.get("/v1/namespaces/stats").json()["results"]
        (found,) = [each for each in held if each["name"] == "load"]
        ids = {document for client in clients for document in client.may_be}
        alive = [name for name in ids if one.api.get(f"/v1/namespaces/load/documents/{name}").status_code == 200]
        assert found["document_count"] == len(alive) + 1
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
