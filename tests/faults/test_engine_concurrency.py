"""Many threads on one engine."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import engine
from engine import DocumentNotFound, EngineClosed
from tests.embedders import HashingEmbedder
from tests.postgres import KINDS, place

SCHEMA = {"body": {"type": "string", "is_searchable": True}, "side": {"type": "string", "is_filterable": True}}


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    return place(request.param, tmp_path)


@pytest.fixture
def quarry(where: Path | str) -> Generator[engine.Engine]:
    with engine.open(where, embedder=HashingEmbedder(), agent="offline") as opened:
        yield opened


def together(*calls: Callable[[], None]) -> None:
    """Run all at once; the first exception of any is raised."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def test_the_last_of_equal_ids_in_a_batch_wins_everywhere(quarry: engine.Engine) -> None:
    assert quarry.upsert("n", [{"id": "a", "body": "early bird"}, {"id": "a", "body": "late owl"}], SCHEMA) == 1
    assert quarry.get("n", "a")["body"] == "late owl"
    assert quarry.retrieve("n", "early", mode="lexical") == []
    assert [h.text for h in quarry.retrieve("n", "owl", mode="vector")] == ["late owl"]


def test_writers_on_the_same_ids_leave_one_version_of_each(quarry: engine.Engine) -> None:
    def write(writer: int) -> Callable[[], None]:
        def run() -> None:
            for turn in range(6):
                quarry.upsert(
                    "n", [{"id": f"d{n}", "body": f"w{writer}t{turn}q", "side": str(writer)} for n in range(5)], SCHEMA
                )
                if turn == 3:
                    quarry.delete("n", document_ids=["d0", "d1"])

        return run

    together(*(write(w) for w in range(6)))
    assert quarry.check() == []
    versions = {str(quarry.get("n", f"d{n}")["body"]) for n in range(5)}
    # Each upload is one transaction, so documents of one upload stay together.
    assert len(versions) == 1
    (version,) = versions
    assert {h.document_id for h in quarry.retrieve("n", version, k=50, mode="lexical")} == {f"d{n}" for n in range(5)}
    assert quarry.stats()[0].passages == 5


def test_a_reader_never_sees_a_mix_of_two_uploads(quarry: engine.Engine) -> None:
    def batch(side: str) -> list[dict[str, str]]:
        return [{"id": f"d{n}", "body": f"common words and {side}side", "side": side} for n in range(20)]

    quarry.upsert("n", batch("left"), SCHEMA)
    stop = threading.Event()

    def write() -> None:
        try:
            for turn in range(25):
                quarry.upsert("n", batch("right" if turn % 2 == 0 else "left"), SCHEMA)
        finally:
            stop.set()

    def read(mode: str, filters: dict[str, str] | None) -> Callable[[], None]:
        def run() -> None:
            while not stop.is_set():
                hits = quarry.retrieve("n", "common words", k=100, mode=mode, filters=filters)
                sides = {h.text.split()[-1] for h in hits}
                assert len(sides) <= 1, sides
                assert len(hits) == 20 or (filters is not None and hits == [])

        return run

    together(write, read("lexical", None), read("vector", None), read("hybrid", {"side": "left"}))


def test_what_was_acknowledged_is_found_at_once_by_every_thread(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "seed", "body": "seed"}], SCHEMA)
    misses: list[str] = []

    def write(writer: int) -> Callable[[], None]:
        def run() -> None:
            for turn in range(15):
                word = f"token{writer}x{turn}"
                quarry.upsert("n", [{"id": f"w{writer}", "body": word}], SCHEMA)
                if [h.document_id for h in quarry.retrieve("n", word, k=1)] != [f"w{writer}"]:
                    misses.append(word)
                quarry.delete("n", document_ids=[f"w{writer}"])
                if quarry.retrieve("n", word, mode="lexical"):
                    misses.append(f"ghost of {word}")
                try:
                    quarry.get("n", f"w{writer}")
                    misses.append(f"{word} after its removal")
                except DocumentNotFound:
                    pass

        return run

    together(*(write(w) for w in range(4)))
    assert misses == []


@pytest.mark.parametrize("where", ["folder"], indirect=True)
def test_a_backup_under_writes_is_whole(quarry: engine.Engine, tmp_path: Path) -> None:
    def batch(turn: int) -> list[dict[str, str]]:
        return [{"id": f"{side}{n}", "body": f"turn{turn}"} for side in ("a", "b") for n in range(10)]

    quarry.upsert("n", batch(0), SCHEMA)
    stop = threading.Event()

    def write() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            quarry.upsert("n", batch(turn), SCHEMA)

    def save() -> None:
        try:
            for number in range(4):
                quarry.backup(tmp_path / f"copy{number}")
        finally:
            stop.set()

    together(write, save)
    for number in range(4):
        with engine.open(tmp_path / f"copy{number}", embedder=HashingEmbedder(), agent="offline") as restored:
            assert restored.check() == []
            assert len({restored.get("n", f"{side}{n}")["body"] for side in ("a", "b") for n in range(10)}) == 1
        shutil.rmtree(tmp_path / f"copy{number}")


def test_after_close_every_verb_says_so(where: Path | str) -> None:
    quarry = engine.open(where, embedder=HashingEmbedder(), agent="offline")
    quarry.upsert("n", [{"id": "1", "body": "x"}], SCHEMA)
    quarry.close()
    quarry.close()
    for call in (
        lambda: quarry.get("n", "1"),
        lambda: quarry.upsert("n", [{"id": "1", "body": "x"}]),
        lambda: quarry.retrieve("n", "x"),
        lambda: quarry.search("n", objective="x", context="x"),
        quarry.namespaces,
    ):
        with pytest.raises(EngineClosed):
            call()
