"""Counts of namespaces and of the whole data directory."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import engine
from tests.embedders import HashingEmbedder

NOTE = {"id": "1", "text": "The ferry leaves at noon."}


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def test_stats_say_what_each_namespace_is_and_holds(tmp_path: Path) -> None:
    with opened(tmp_path) as quarry:
        quarry.upsert("n", [NOTE, {**NOTE, "id": "2"}])
        record = quarry.namespace("n")
        (stats,) = quarry.stats()
        assert (stats.id, stats.name, stats.documents, stats.passages) == (record.id, "n", 2, 2)
        assert (stats.created_at, stats.updated_at) == (record.created_at, record.updated_at)
        assert stats.storage_bytes > 0
        assert stats.problem == ""


def test_totals_are_of_all_companies(tmp_path: Path) -> None:
    with opened(tmp_path) as quarry:
        quarry.upsert("n", [NOTE])
        quarry.for_company("acme").upsert("m", [NOTE, {**NOTE, "id": "2"}])
        totals = quarry.totals()
        assert (totals.namespaces, totals.documents, totals.passages, totals.damaged) == (2, 3, 3, 0)


def test_a_damaged_namespace_is_named_and_the_others_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as quarry:
        for name in ("broken", "sound"):
            quarry.upsert(name, [NOTE])
        number = quarry.namespace("broken").id
    database = tmp_path / "namespaces" / str(number) / "documents.duckdb"
    database.write_bytes(b"x" * database.stat().st_size)
    shutil.rmtree(database.parent / "lexical")
    with opened(tmp_path) as quarry:
        with contextlib.suppress(engine.StorageError):
            quarry.get("broken", "1")
        broken, sound = quarry.stats()
        assert broken.problem
        assert (sound.documents, sound.problem) == (1, "")
        assert quarry.totals().damaged == 1
        assert quarry.get("sound", "1") == NOTE
