"""What an open namespace remembers of its rows is always what the database holds."""

from __future__ import annotations

import threading

import engine
from engine.backend.embedded.recent import BODIES, PASSAGES
from engine.backend.recent import LARGE, Recent
from engine.facade import Engine


def held(quarry: Engine, document_id: str) -> str:
    return str(quarry.get("n", document_id)["body"])


def found(quarry: Engine, text: str) -> list[str]:
    return [hit.text for hit in quarry.retrieve("n", text, mode="lexical")]


def test_a_document_read_twice_is_read_from_the_database_once(tmp_path):
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "The ferry leaves at nine."}])
        first = quarry.get("n", "a")
        first["body"] = "changed by the caller"
        before = BODIES.bytes
        assert held(quarry, "a") == "The ferry leaves at nine."
        assert BODIES.bytes == before > 0


def test_what_was_read_before_a_write_does_not_come_back_after_it(tmp_path):
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [{"id": i, "body": f"The ferry {i} leaves at nine."} for i in ("a", "b", "c")])
        assert len(found(quarry, "ferry")) == 3
        assert held(quarry, "a") == "The ferry a leaves at nine."
        quarry.upsert("n", [{"id": "a", "body": "The ferry a leaves at ten."}])
        assert held(quarry, "a") == "The ferry a leaves at ten."
        assert held(quarry, "b") == "The ferry b leaves at nine."
        assert "The ferry a leaves at nine." not in found(quarry, "ferry")
        quarry.delete("n", document_ids=["a"])
        assert quarry.get_many("n", ["a", "b", "nothing"]).keys() == {"b"}
        assert sorted(found(quarry, "ferry")) == ["The ferry b leaves at nine.", "The ferry c leaves at nine."]


def test_nothing_of_a_namespace_made_anew_is_that_of_the_old_one(tmp_path):
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "The old ferry leaves at nine."}])
        assert found(quarry, "ferry") == ["The old ferry leaves at nine."]
        quarry.drop("n")
        quarry.upsert("n", [{"id": "a", "body": "The new ferry leaves at ten."}])
        assert found(quarry, "ferry") == ["The new ferry leaves at ten."]
        assert held(quarry, "a") == "The new ferry leaves at ten."
        quarry.reindex("n")
        assert found(quarry, "ferry") == ["The new ferry leaves at ten."]


def test_a_closed_namespace_is_forgotten(tmp_path):
    passages, bodies = PASSAGES.bytes, BODIES.bytes
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "The ferry leaves at nine."}])
        assert found(quarry, "ferry")
        assert held(quarry, "a")
        assert PASSAGES.bytes > passages
        assert BODIES.bytes > bodies
    assert (PASSAGES.bytes, BODIES.bytes) == (passages, bodies)


def test_readers_beside_a_writer_see_no_version_older_than_the_last_acknowledged(tmp_path):
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("n", [{"id": "a", "body": "Version 0 of the ferry."}])
        acknowledged = [0]
        faults: list[str] = []
        ended = threading.Event()

        def read() -> None:
            while not ended.is_set():
                least = acknowledged[0]
                texts = [held(quarry, "a"), *found(quarry, "ferry")]
                faults.extend(f"{text} after {least}" for text in texts if int(text.split()[1]) < least)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for version in range(1, 25):
            quarry.upsert("n", [{"id": "a", "body": f"Version {version} of the ferry."}])
            acknowledged[0] = version
        ended.set()
        for reader in readers:
            reader.join()
    assert faults == []


def test_entries_used_least_recently_go_first_and_large_ones_are_not_kept():
    recent: Recent[str] = Recent(100 * LARGE)
    recent.keep(1, [(key, str(key), 100) for key in range(LARGE)])
    recent.take(1, [0])
    recent.keep(1, [("new", "new", 50), ("large", "large", 101)])
    assert recent.take(1, [0, 1, 2, "new", "large"]) == {0: "0", 2: "2", "new": "new"}
    assert recent.bytes == 100 * (LARGE - 1) + 50
    recent.drop(1)
    assert (recent.bytes, recent.take(1, range(LARGE))) == (0, {})
