"""The connection is cut at each statement in turn: a write happens once or not at all, and says so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import engine
from tests.embedders import HashingEmbedder
from tests.faults.extent import LONG
from tests.postgres import database_of

STRIDE = 1 if LONG else 3
"""Every third statement in the short form."""
SCHEMA = {"body": {"type": "string", "is_searchable": True}, "n": {"type": "int", "is_filterable": True}}
NAMES = ("tug", "ferry", "dhow")
BOATS = [{"id": name, "body": f"The {name} lies in the harbour.", "n": n} for n, name in enumerate(NAMES)]
MORE = {"m": {"type": "string", "is_filterable": True}}


class Cutter:
    """Terminates a connection before its statement of a number, as a server that goes away does."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.at = 0
        self.seen = 0
        self.after_commit = False

    def before(self, connection: Any) -> None:
        self.seen += 1
        if self.seen == self.at:
            self._end(connection)

    def after(self, connection: Any, statement: Any) -> None:
        if self.after_commit and statement == "COMMIT":
            self.after_commit = False
            self._end(connection)
            raise psycopg.OperationalError("the answer is lost")

    def _end(self, connection: Any) -> None:
        with psycopg.connect(self._where, autocommit=True, application_name="cutter") as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])


@pytest.fixture
def cutter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cutter:
    made = Cutter(database_of(tmp_path))
    execute, copy = psycopg.Cursor.execute, psycopg.Cursor.copy

    def executed(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if self.connection.info.parameter_status("application_name") == "cutter":
            return execute(self, query, *args, **options)
        made.before(self.connection)
        done = execute(self, query, *args, **options)
        made.after(self.connection, query)
        return done

    @contextlib.contextmanager
    def copied(self: Any, *args: Any, **options: Any) -> Generator[Any]:
        made.before(self.connection)
        with copy(self, *args, **options) as copying:
            yield copying

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(psycopg.Cursor, "copy", copied)
    return made


def opened(tmp_path: Path) -> engine.Engine:
    return engine.open(database_of(tmp_path), embedder=HashingEmbedder(), agent="offline")


WRITES: dict[str, Callable[[engine.Engine], object]] = {
    "first upload": lambda quarry: quarry.upsert("fresh", BOATS, SCHEMA),
    "replace and add": lambda quarry: quarry.upsert("boats", [BOATS[0] | {"n": 9}, {"id": "raft", "body": "A raft."}]),
    "another schema": lambda quarry: quarry.upsert("boats", [{"id": "raft"}], MORE),
    "delete": lambda quarry: quarry.delete("boats", document_ids=["tug", "dhow"]),
    "drop": lambda quarry: quarry.drop("boats"),
    "reindex": lambda quarry: quarry.reindex("boats"),
    "key": lambda quarry: quarry.keys.create("mine"),
    "search": lambda quarry: quarry.search("boats", objective="Where does the ferry lie?", context="A test."),
}


def seen(quarry: engine.Engine) -> dict[str, Any]:
    """What anyone can see of the data."""
    return {
        namespace.name: (namespace.schema, sorted(quarry.documents(namespace.name).documents, key=str))
        for namespace in quarry.namespaces()
    } | {"keys": len(quarry.keys.list())}


@pytest.mark.parametrize("kind", WRITES)
def test_a_write_whose_connection_is_cut_is_whole_or_not_there(kind: str, cutter: Cutter, tmp_path: Path) -> None:
    write = WRITES[kind]
    number, survived = 1, 0
    while True:
        # Read by an engine of its own, which nobody cuts off.
        with opened(tmp_path) as quarry:
            for namespace in quarry.namespaces():
                quarry.drop(namespace.name)
            for key in quarry.keys.list():
                quarry.keys.revoke(key.id)
            quarry.upsert("boats", BOATS, SCHEMA)
            before = seen(quarry)
            cutter.seen, cutter.at = 0, number
            try:
                write(quarry)
                is_done = True
            except engine.StorageError:
                is_done = False
            reached, cutter.at = cutter.seen >= number, 0
            after = seen(quarry)
            if kind in ("reindex", "search"):
                assert after == before
            else:
                assert is_done == (after != before), f"cut at statement {number}"
            assert quarry.check() == []
            if not reached:
                break
            survived += is_done
        number += STRIDE
    assert number > STRIDE
    if kind != "reindex":
        # The statements of a transaction are run again on another connection.
        assert survived


def test_a_commit_whose_answer_is_lost_is_asked_for_and_not_repeated(cutter: Cutter, tmp_path: Path) -> None:
    with opened(tmp_path) as quarry:
        quarry.upsert("boats", BOATS, SCHEMA)
        seq = quarry.namespace("boats").seq
        cutter.after_commit = True
        assert quarry.upsert("boats", [{"id": "raft", "body": "A raft."}]) == 1
        assert not cutter.after_commit
        assert quarry.namespace("boats").seq == seq + 1
        assert quarry.get("boats", "raft")["body"] == "A raft."
