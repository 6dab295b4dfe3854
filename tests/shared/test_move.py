"""``quarry move`` between a folder and a database, in both directions, broken off and gone on with."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import engine
from tests.embedders import HashingEmbedder
from tests.postgres import database_of
from tests.unit.cli.running import invoked

pytestmark = pytest.mark.xdist_group("shared")

EMBEDDER = HashingEmbedder()
SCHEMA = {
    "body": {"type": "string", "is_searchable": True},
    "colour": {"type": "string", "is_filterable": True},
    "depth": {"type": "float", "is_filterable": True},
}


def documents(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{number}",
            "body": f"Island{number % 17} has lantern{number % 23} and the ferry{number} passes it at dusk.",
            "colour": ("red", "green", "blue")[number % 3],
            "depth": number / 8,
            "guessed": number,
            "nested": {"a": [number, None, "\x00\x01 ünïcödé"]},
        }
        for number in range(count)
    ]


def opened(where: str | Path) -> engine.Engine:
    return engine.open(where, embedder=EMBEDDER, agent="offline")


def filled(where: str | Path) -> str:
    """A store with two companies; the raw form of a key of the second."""
    with opened(where) as quarry:
        quarry.upsert("boats", documents(2_500), SCHEMA)
        quarry.delete("boats", document_ids=["d7", "d8"])
        quarry.upsert("boats", [{"id": "d9", "body": "Replaced."}])
        other = quarry.for_company("other")
        other.upsert("boats", documents(3), SCHEMA)
        other.upsert("empty", [{"id": "x"}])
        other.delete("empty", document_ids=["x"])
        return other.keys.create("mine", ["read"])[1]


def held(where: str | Path) -> dict[str, Any]:
    """What anyone can see of a store."""
    seen: dict[str, Any] = {}
    with opened(where) as quarry:
        for name in ("default", "other"):
            company = quarry.for_company(name)
            for namespace in company.namespaces():
                listed, cursor = [], None
                while True:
                    page = company.documents(namespace.name, limit=1_000, cursor=cursor)
                    listed += page.documents
                    if (cursor := page.next_cursor) is None:
                        break
                seen[f"{name}/{namespace.name}"] = (namespace.schema, listed)
            seen[name] = [(key.id, key.name, key.scopes, key.created_at) for key in company.keys.list()]
    return seen


@pytest.mark.parametrize("to_database", [True, False])
def test_a_move_brings_everything_and_leaves_the_source(tmp_path: Path, to_database: bool) -> None:
    folder, database = tmp_path / "data", database_of(tmp_path / "db")
    source, target = (folder, database) if to_database else (database, folder)
    raw = filled(source)
    before = held(source)
    moved = engine.move(source, target, embedder=EMBEDDER)
    assert moved.problems == ()
    assert (moved.namespaces, moved.documents, moved.written, moved.keys) == (3, 2_501, 2_501, 1)
    assert moved.queries >= 30
    assert moved.agreement >= 0.98
    assert held(source) == before
    assert held(target) == before
    with opened(target) as quarry:
        found = quarry.keys.verify(raw)
        assert found is not None
        assert found.company_name == "other"
        assert quarry.check() == []


def test_a_move_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    folder, database = tmp_path / "data", database_of(tmp_path / "db")
    filled(folder)

    class Broken(Exception):
        pass

    def stop(namespace: str, done: int, total: int) -> None:
        if done >= 2_000:
            raise Broken

    with pytest.raises(Broken):
        engine.move(folder, database, embedder=EMBEDDER, progress=stop)
    again = engine.move(folder, database, embedder=EMBEDDER)
    assert again.problems == ()
    assert again.written == 2_501 - 2_000
    assert engine.move(folder, database, embedder=EMBEDDER).written == 0
    assert held(database) == held(folder)


def test_a_target_with_other_documents_is_said_to_differ(tmp_path: Path) -> None:
    folder, database = tmp_path / "data", database_of(tmp_path / "db")
    for place, word in ((folder, "ferry"), (database, "tug")):
        with opened(place) as quarry:
            quarry.upsert("boats", [{"id": word, "body": f"A {word} sails."}])
    moved = engine.move(folder, database, embedder=EMBEDDER)
    assert any("2 in the target" in problem for problem in moved.problems)


def test_a_target_of_another_schema_is_refused(tmp_path: Path) -> None:
    folder, database = tmp_path / "data", database_of(tmp_path / "db")
    for place, kind in ((folder, "int"), (database, "string")):
        with opened(place) as quarry:
            quarry.upsert("boats", [{"id": "a"}], {"n": {"type": kind}})
    with pytest.raises(engine.InvalidRequest, match="another schema"):
        engine.move(folder, database, embedder=EMBEDDER)


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    folder, database = tmp_path / "data", database_of(tmp_path / "db")
    with engine.open(folder, agent="offline") as quarry:
        quarry.upsert("boats", documents(3))
        quarry.keys.create("mine")
    files = {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("documents.duckdb")}
    done = invoked("move", str(folder), database, data=None)
    assert done.returncode == 0, done.stderr
    assert "1 namespace with 3 documents (3 written now)" in done.stdout
    assert "1 key" in done.stdout
    assert "sessions are left behind" in done.stdout
    assert {path: hashlib.sha256(path.read_bytes()).digest() for path in files} == files
    missing = invoked("move", str(tmp_path / "nothing"), database, data=None)
    assert missing.returncode == 1
    assert "There is no data directory" in missing.stderr
    assert not (tmp_path / "nothing").exists()
