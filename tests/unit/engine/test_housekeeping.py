from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import engine
from engine.backend.embedded import housekeeping
from engine.backend.embedded.housekeeping import Housekeeping

LONG = "All that the harbour master wrote. " * 1_000
NOTES = [{"id": str(n), "note": LONG} for n in range(60)]
SCHEMA = {"note": {"type": "string"}}


def wait_for(met: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not met():
        assert time.monotonic() < end
        time.sleep(0.01)


def logs(folder: Path) -> list[Path]:
    return list((folder / "namespaces").rglob("*.wal"))


def test_a_namespace_is_tidied_once_after_its_last_write() -> None:
    tidied: list[tuple[int, float]] = []

    def tidy(namespace: int) -> bool:
        tidied.append((namespace, time.monotonic()))
        return True

    keeping = Housekeeping(tidy, quiet_s=0.3)
    last = 0.0
    for _ in range(4):
        keeping.written(1)
        keeping.written(2)
        last = time.monotonic()
        time.sleep(0.05)
    wait_for(lambda: len(tidied) == 2)
    time.sleep(0.4)
    keeping.stop()
    assert [namespace for namespace, _ in tidied] == [1, 2]
    assert all(when >= last + 0.25 for _, when in tidied)


def test_a_fault_is_logged_and_the_next_namespace_tidied(caplog: pytest.LogCaptureFixture) -> None:
    tidied: list[int] = []

    def tidy(namespace: int) -> bool:
        tidied.append(namespace)
        if namespace == 1:
            raise OSError("no such disk")
        return True

    keeping = Housekeeping(tidy, quiet_s=0.05)
    with caplog.at_level(logging.WARNING):
        keeping.written(1)
        wait_for(lambda: tidied == [1])
        keeping.written(2)
        wait_for(lambda: tidied == [1, 2])
    keeping.stop()
    assert "no such disk" in caplog.text


def test_what_was_not_done_is_tried_again() -> None:
    answers, tried = [False, False, True], list[int]()

    def tidy(namespace: int) -> bool:
        tried.append(namespace)
        return answers.pop(0)

    keeping = Housekeeping(tidy, quiet_s=0.05)
    keeping.written(1)
    wait_for(lambda: not answers)
    time.sleep(0.2)
    keeping.stop()
    assert tried == [1, 1, 1]


def test_a_write_stands_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    tidied: list[int] = []
    keeping = Housekeeping(lambda namespace: tidied.append(namespace) is None, quiet_s=0.05)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        keeping.written(1)
    keeping.written(2)
    wait_for(lambda: tidied == [1, 2])
    keeping.stop()


def test_a_process_that_ends_without_closing_the_engine_ends_well(tmp_path: Path) -> None:
    script = f"""
import time, engine
quarry = engine.open({str(tmp_path)!r}, agent="offline")
for _ in range(4):
    quarry.upsert("n", [{{"id": str(n), "note": {LONG!r}}} for n in range(60)], {SCHEMA!r})
time.sleep(2.0)
"""
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
    with engine.open(tmp_path, agent="offline") as quarry:
        assert quarry.check() == []


def test_nothing_is_tidied_after_the_end() -> None:
    tidied: list[int] = []
    keeping = Housekeeping(lambda namespace: tidied.append(namespace) is None, quiet_s=0.1)
    keeping.written(1)
    keeping.stop()
    keeping.written(2)
    time.sleep(0.2)
    assert tidied == []


def test_a_long_log_is_emptied_and_a_short_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Housekeeping.__init__, "__kwdefaults__", {"quiet_s": 0.1})
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("short", [{"id": "1", "text": "A rope."}])
        quarry.upsert("long", NOTES, SCHEMA)
        wait_for(lambda: len(logs(tmp_path)) == 1)
        assert logs(tmp_path)[0].stat().st_size < housekeeping.WORTHWHILE_LOG
        assert quarry.get("long", "59")["note"] == LONG
        assert quarry.check() == []


def test_a_disk_without_space_for_a_checkpoint_keeps_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("long", NOTES, SCHEMA)
        backend, number = quarry._core.backend, quarry.namespace("long").id
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2**20))
        with pytest.raises(engine.StorageFull), backend._pool.use(number) as store:
            housekeeping.tidy(store)
        assert len(logs(tmp_path)) == 1
        assert quarry.get("long", "0")["note"] == LONG
