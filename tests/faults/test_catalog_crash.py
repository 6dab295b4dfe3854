"""The catalog through ``kill -9`` at any moment: what was acknowledged is there, what was not is whole or absent."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from engine.errors import SessionFailed, SessionNotFound
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.keys import Keyring
from engine.storage.manifest import Manifest
from engine.storage.sessions import SessionStore
from tests.faults.extent import runs
from tests.faults.tally import Tally

SEED = 20260301

# Acknowledges each change with a line that says what must be found; the line before says what may be found.
WRITER = """
import json, random, sys
from datetime import timedelta
from pathlib import Path
from engine.model.ids import new_session_id
from engine.model.schema import Attribute, AttributeType, Schema
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.keys import Keyring
from engine.storage.sessions import SessionStore
from engine.store.keys import KeyStore
from tests.catalogs import added, written

def say(**line):
    print(json.dumps(line), flush=True)

directory, seed = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
file = CatalogFile.open(directory)
catalog, keyring, sessions = Catalog(file), Keyring(file), SessionStore(file, timedelta(hours=24))
company = catalog.company("default")
say(ready=True)
step = 0
while True:
    step += 1
    kind = chance.choice(["create", "create", "schema", "drop", "key", "session"])
    held = catalog.namespaces(company.id)
    if kind == "create" or not held:
        name = f"n{seed}-{step}"
        say(trying=name)
        made = added(catalog, name)
        say(created=name, id=made.id)
    elif kind == "schema":
        target = chance.choice(held)
        attributes = {f"a{seed}_{step}_{n}": Attribute(AttributeType.STRING) for n in range(chance.choice([1, 50]))}
        say(trying=target.name)
        written(catalog, target.id, Schema(attributes))
        catalog.flush()
        say(changed=target.name, attributes=sorted(attributes))
    elif kind == "drop":
        target = chance.choice(held)
        say(trying=target.name)
        catalog.drop_namespace(target.id)
        say(dropped=target.name)
    elif kind == "key":
        say(trying="key")
        say(key=KeyStore(keyring, company).create("k")[1])
    else:
        session = new_session_id()
        sessions.add(company.id, 1, session, b"first")
        sessions.claim(company.id, 1, session)
        sessions.save(session, b"x" * chance.choice([10, 20_000]))
        say(session=session)
"""


class Ledger:
    """What the acknowledgements of all cycles add up to."""

    def __init__(self) -> None:
        self.namespaces: dict[str, list[str]] = {}
        self.numbers: set[int] = set()
        self.keys: list[str] = []
        self.sessions: list[str] = []
        self.uncertain: str | None = None
        self.acknowledged = 0

    def read(self, lines: list[str]) -> None:
        self.uncertain = None
        for text in lines:
            line = json.loads(text)
            self.uncertain = line.get("trying")
            self.acknowledged += "trying" not in line
            if "created" in line:
                assert line["id"] not in self.numbers, "a number was given out twice"
                self.numbers.add(line["id"])
                self.namespaces[line["created"]] = []
            elif "changed" in line:
                self.namespaces[line["changed"]] = line["attributes"]
            elif "dropped" in line:
                del self.namespaces[line["dropped"]]
            elif "key" in line:
                self.keys.append(line["key"])
            elif "session" in line:
                self.sessions.append(line["session"])


@pytest.mark.slow
def test_no_acknowledged_change_is_lost_to_kill_9(tmp_path: Path, tally: Tally) -> None:
    cycles = runs(12, 150)
    chance = random.Random(SEED)
    ledger = Ledger()
    for cycle in range(cycles):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(cycle)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == '{"ready": true}\n'
        time.sleep(chance.uniform(0.0, 0.25))
        child.kill()
        output = child.communicate()[0]
        assert child.returncode == -signal.SIGKILL
        # A last line that was cut off acknowledges nothing.
        ledger.read(output[: output.rfind("\n") + 1].splitlines())
        with tally.trial("`kill -9` of a process that changes the catalog") as trial, trial.recovering():
            check(tmp_path, ledger)
    assert ledger.acknowledged > cycles


def check(directory: Path, ledger: Ledger) -> None:
    file = CatalogFile.open(directory)
    try:
        catalog, keyring = Catalog(file), Keyring(file)
        sessions = SessionStore(file, timedelta(hours=24))
        found = {n.name: sorted(n.schema.attributes) for n in catalog.namespaces(1)}
        with file.read() as cursor:
            rows = cursor.execute(
                "SELECT count(*), count(DISTINCT id), count(DISTINCT name) FROM namespaces"
            ).fetchone()
            generation = cursor.execute("SELECT generation FROM state").fetchone()
        assert rows == (len(found),) * 3
        assert generation is not None
        assert Manifest(directory / "catalog.manifest").read() <= generation[0]
        differing = set(found.keys() ^ ledger.namespaces.keys())
        differing |= {n for n in found.keys() & ledger.namespaces.keys() if found[n] != sorted(ledger.namespaces[n])}
        assert differing <= {ledger.uncertain}
        assert all(keyring.verify(raw) is not None for raw in ledger.keys)
        for session_id in ledger.sessions:
            assert len(sessions.load(1, 1, session_id).state) in (10, 20_000)
        # What one unacknowledged change left behind is the truth from now on.
        ledger.namespaces = found
        ledger.numbers |= catalog.namespace_ids()
    except (SessionNotFound, SessionFailed) as error:
        raise AssertionError("an acknowledged session is gone") from error
    finally:
        file.close()
