"""A process that dies at any moment loses nothing that it acknowledged and leaves no half of a write behind."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import engine
from tests.embedders import HashingEmbedder
from tests.faults.crash_points import POINTS
from tests.faults.extent import runs
from tests.faults.tally import Tally, Trial

ROOT = Path(__file__).resolve().parents[2]


def child(folder: Path, seed: int, point: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.crash_child", str(folder), str(seed), point],
        stdout=subprocess.PIPE,
        stderr=None,
        text=True,
        cwd=ROOT,
    )


def replay(lines: list[str], state: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """What was acknowledged, and what stands if the last, unacknowledged call took effect too."""
    acknowledged, pending = dict(state), dict(state)
    for line in lines:
        try:
            said = json.loads(line)
        except json.JSONDecodeError:
            break  # cut off by the kill
        if "begin" in said:
            pending = dict(acknowledged)
            pending |= said["begin"].get("upsert", {})
            for gone in said["begin"].get("delete", []):
                pending.pop(gone, None)
        elif "done" in said:
            acknowledged = dict(pending)
    return acknowledged, pending


def stored(quarry: engine.Engine) -> dict[str, int]:
    if not list(quarry.namespaces()):
        return {}
    hits = quarry.retrieve("n", "document stands in version before the crash", k=500, mode="vector")
    return {h.document_id: int(quarry.get("n", h.document_id)["version"]) for h in hits}  # type: ignore[arg-type]


def assert_whole(folder: Path, lines: list[str], before: dict[str, int], trial: Trial) -> dict[str, int]:
    acknowledged, pending = replay(lines, before)
    with trial.recovering():
        quarry = engine.open(folder, embedder=HashingEmbedder(), agent="offline")
    with quarry:
        assert quarry.check() == []
        held = stored(quarry)
        assert held in (acknowledged, pending)
        for document_id, version in list(held.items())[:5]:
            found = quarry.retrieve("n", f"v{version}z", k=50, mode="lexical")
            assert version == 0 or document_id in {h.document_id for h in found}
            assert version == 0 or all(f"v{version}z" in h.text for h in found)
    return held


def test_kill_9_at_any_moment_keeps_every_acknowledged_write(tmp_path: Path, tally: Tally) -> None:
    draw = random.Random(20261121)
    state: dict[str, int] = {}
    for cycle in range(runs(10, 150)):
        process = child(tmp_path / "data", cycle)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        assert json.loads(lines[0])["open"]
        time.sleep(draw.uniform(0.02, 0.6))
        process.send_signal(signal.SIGKILL)
        # Not `communicate`, which would lose what `readline` has read ahead.
        rest = process.stdout.read()
        process.wait(timeout=60)
        process.stdout.close()
        with tally.trial("`kill -9` of a process under uploads and deletes") as trial:
            state = assert_whole(tmp_path / "data", [*lines, *rest.splitlines()], state, trial)


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_between_two_steps_of_a_write_is_mended_at_the_next_open(
    tmp_path: Path, point: str, tally: Tally
) -> None:
    process = child(tmp_path / "data", 7, point)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 9
    state: dict[str, Any] = {}
    with tally.trial("a crash between database, indexes, side file and swap") as trial:
        assert_whole(tmp_path / "data", out.splitlines(), state, trial)
