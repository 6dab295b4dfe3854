"""Backups of an engine in use, and what is made of them: a drill, drops and damage meanwhile, nothing waits."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

import engine
from engine import CorruptData, InvalidRequest
from engine.backend.embedded import backend as embedded
from engine.storage.hot_copy import copy_database
from tests.embedders import HashingEmbedder

SCHEMA = {"body": {"type": "string", "is_searchable": True}, "year": {"type": "int", "is_filterable": True}}


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def batch(word: str, count: int = 5) -> list[dict[str, object]]:
    return [{"id": f"{word}{n}", "body": f"{word} number{n}x", "year": 2000 + n} for n in range(count)]


@pytest.fixture
def quarry(tmp_path: Path):
    with opened(tmp_path / "data") as made:
        for name in ("one", "two"):
            made.upsert(name, batch(name), SCHEMA)
        yield made


def test_the_drill_a_server_is_backed_up_lost_and_restored(quarry: engine.Engine, tmp_path: Path) -> None:
    raw = quarry.keys.create("client")[1]
    quarry.for_company("acme").upsert("theirs", batch("theirs"), SCHEMA)
    report = quarry.backup(tmp_path / "backup")
    assert (report.namespaces, report.documents, report.problems) == (3, 15, ())
    assert report.bytes > 0
    quarry.upsert("one", batch("after"))
    quarry.close()
    shutil.rmtree(tmp_path / "data")
    restored = engine.restore(tmp_path / "backup", tmp_path / "data")
    assert (restored.namespaces, restored.documents) == (3, 15)
    with opened(tmp_path / "data") as again:
        assert again.check() == []
        assert again.keys.verify(raw) is not None
        assert [h.document_id for h in again.retrieve("one", "number3x", mode="lexical")] == ["one3"]
        assert [h.document_id for h in again.retrieve("two", "two", filters={"year": 2001})] == ["two1"]
        assert again.for_company("acme").get("theirs", "theirs2")["year"] == 2002
        assert again.upsert("one", batch("later")) == 5


def test_uploads_and_new_namespaces_do_not_wait_for_a_backup(
    quarry: engine.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying, may_end = threading.Event(), threading.Event()

    def slow(*given: object) -> int:
        copying.set()
        assert may_end.wait(60)
        return copy_database(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(embedded, "copy_database", slow)
    backup = threading.Thread(target=quarry.backup, args=[tmp_path / "copy"])
    backup.start()
    assert copying.wait(60)

    def write() -> None:
        quarry.upsert("one", [*batch("late", 200), {"id": "one0", "body": "changed"}])
        quarry.upsert("one", [], {"colour": {"type": "string", "is_filterable": True}})
        quarry.upsert("three", batch("three"), SCHEMA)
        quarry.drop("two")

    writer = threading.Thread(target=write)
    writer.start()
    writer.join(60)
    was_held_up = writer.is_alive()
    may_end.set()
    writer.join(60)
    backup.join(60)
    assert not was_held_up
    assert [s.documents for s in quarry.stats()] == [205, 5]
    with opened(tmp_path / "copy") as copy:
        assert copy.check() == []
        assert [(n.name, s.documents) for n, s in zip(copy.namespaces(), copy.stats(), strict=True)] == [("one", 5)]
        assert copy.get("one", "one0")["year"] == 2000


def test_a_damaged_namespace_is_named_and_copied_as_it_is(quarry: engine.Engine, tmp_path: Path) -> None:
    number = str(quarry.namespace("one").id)
    quarry.close()
    database = tmp_path / "data" / "namespaces" / number / "documents.duckdb"
    damaged = b"x" * database.stat().st_size
    database.write_bytes(damaged)
    with opened(tmp_path / "data") as again:
        report = again.backup(tmp_path / "copy")
    assert [problem.partition(":")[0] for problem in report.problems] == ["one"]
    assert (tmp_path / "copy" / "namespaces" / number / "documents.duckdb").read_bytes() == damaged
    with pytest.raises(CorruptData, match="one"):
        engine.restore(tmp_path / "copy", tmp_path / "restored")
    assert not list(tmp_path.glob("restored*"))


def test_nothing_is_restored_over_something_or_from_anywhere(quarry: engine.Engine, tmp_path: Path) -> None:
    quarry.backup(tmp_path / "copy")
    with pytest.raises(InvalidRequest):
        engine.restore(tmp_path / "copy", tmp_path / "data")
    with pytest.raises(InvalidRequest):
        engine.restore(tmp_path, tmp_path / "restored")
    (tmp_path / "empty").mkdir()
    assert engine.restore(tmp_path / "copy", tmp_path / "empty").namespaces == 2


def test_a_backup_is_readable_by_its_owner_alone(quarry: engine.Engine, tmp_path: Path) -> None:
    quarry.backup(tmp_path / "copy")
    for path in [tmp_path / "copy", *(tmp_path / "copy").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
