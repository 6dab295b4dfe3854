"""Power cuts at any point of a record, and a fault at the n-th call: nothing acknowledged is lost, no copy is half."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine
from tests.embedders import HashingEmbedder
from tests.faults.extent import runs
from tests.faults.power import Disk, Op, compiled, read_record
from tests.faults.tally import Tally, Trial

ROOT = Path(__file__).resolve().parents[2]
Model = dict[str, dict[str, int]]
"""Namespace to document to the step that wrote it."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = compiled(tmp_path_factory.mktemp("shim"))
    if library is None:
        pytest.skip("needs Linux and a C compiler")
    return library


def run_child(shim: Path, folder: Path, seed: int, steps: int, **environment: str) -> int:
    folder.mkdir()
    root = folder.resolve()
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.power_child", str(root), str(seed), str(steps)],
        env={
            **os.environ,
            "LD_PRELOAD": str(shim),
            "FAULTS_ROOT": str(root),
            "FAULTS_ARMED": str(folder.with_suffix(".armed")),
            **environment,
        },
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr[-3000:]
    return done.returncode


def expected(acknowledged: bytes) -> tuple[list[Model], dict[str, list[Model]]]:
    """The states that may be seen, the last of which have what began and was not acknowledged; and those of backups."""
    states: list[Model] = [{}]
    backups: dict[str, list[Model]] = {}
    begun: dict[str, Any] | None = None
    for line in acknowledged.decode().splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        said = json.loads(line)
        if "begin" in said:
            begun = said
        elif begun is not None:
            after = [applied(held, begun) for held in states]
            if "done" in said:
                if begun["begin"] == "backup":
                    backups[f"backup{begun['step']}"] = states
                states = after
            else:
                # Refused: it is whole or it never was, also where it failed after its commit.
                states += after
            begun = None
    return states + ([applied(held, begun) for held in states] if begun else []), backups


def applied(model: Model, begun: dict[str, Any]) -> Model:
    after = {name: dict(documents) for name, documents in model.items()}
    name, ids = begun["name"], begun["ids"]
    match begun["begin"]:
        case "upsert" | "schema":
            after.setdefault(name, {}).update(dict.fromkeys(ids, begun["step"]))
        case "delete":
            for document_id in ids:
                after.get(name, {}).pop(document_id, None)
        case "drop":
            after.pop(name, None)
    return after


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def seen(folder: Path, trial: Trial | None = None) -> Model:
    """What is found by vector, filter and id after opening; every index, count, schema and column agrees."""
    with (trial or Trial()).recovering():
        quarry = opened(folder)
    with quarry:
        assert quarry.check() == []
        out: Model = {}
        for record in quarry.namespaces():
            hits = quarry.retrieve(record.name, "ferry", k=100, mode="vector")
            out[record.name] = {h.document_id: quarry.get(record.name, h.document_id)["step"] for h in hits}
            if record.schema.attributes["colour"].is_filterable:
                red = quarry.retrieve(record.name, "ferry", k=100, filters={"colour": "red"})
                assert {h.document_id for h in red} == set(out[record.name])
        return out


def test_a_power_cut_at_any_point_loses_nothing_that_was_acknowledged(shim: Path, tmp_path: Path, tally: Tally) -> None:
    # The first one takes a backup.
    for seed in range(3, 3 + runs(1, 10)):
        folder = tmp_path / f"run{seed}"
        log = tmp_path / f"log{seed}"
        run_child(shim, folder, seed, 14, FAULTS_LOG=str(log))
        ops = list(read_record(log))
        assert sum(op.kind == "W" for op in ops) > 100
        draw = random.Random(seed)
        cuts = sorted(draw.sample(range(len(ops)), runs(10, 60)))
        disk, known = Disk(folder.resolve()), 0
        for number, op in enumerate(ops):
            disk.play(op)
            states, backups = expected(disk.acknowledged) if op.kind == "A" or number in cuts else ([], {})
            # Right after a backup nothing else has been synced that would take its names along.
            if number not in cuts and len(backups) <= known:
                continue
            known = max(known, len(backups))
            left = tmp_path / "left"
            disk.after_cut(left, draw)
            with tally.trial("a power cut that keeps any unsynced pages and names") as trial:
                assert seen(left / "data", trial) in states, (seed, number)
                for name, held in backups.items():
                    assert seen(left / name) in held, (seed, number)
            shutil.rmtree(left)


def test_what_a_cut_brings_back_is_what_stood_there_and_not_what_came_to_its_inode(tmp_path: Path) -> None:
    disk, draw = Disk(Path("/disk")), random.Random(0)
    for kind, inode, one, two, data in [
        *(("C", 1, "/disk/a", "", b""), ("W", 1, "", "", b"old"), ("S", 1, "", "", b""), ("D", 0, "/disk", "", b"")),
        *(
            ("C", 2, "/disk/b", "", b""),
            ("W", 2, "", "", b"new"),
            ("S", 2, "", "", b""),
            ("R", 0, "/disk/b", "/disk/a", b""),
        ),
        ("C", 1, "/disk/c", "", b""),
    ]:
        disk.play(Op(kind, inode, 0, one, two, data))
    found = set()
    for number in range(20):
        disk.after_cut(tmp_path / str(number), draw)
        found.add((tmp_path / str(number) / "a").read_bytes())
    assert found == {b"old", b"new"}


def test_the_cuts_are_hard_enough_to_break_what_is_not_synced(shim: Path, tmp_path: Path) -> None:
    """The control: with the syncs of files left out of the record, acknowledged writes are lost."""
    folder, log, broken = tmp_path / "run", tmp_path / "log", 0
    run_child(shim, folder, 0, 8, FAULTS_LOG=str(log))
    disk, draw = Disk(folder.resolve()), random.Random(0)
    for op in read_record(log):
        if op.kind != "S":
            disk.play(op)
    for number in range(3):
        left = tmp_path / f"left{number}"
        disk.after_cut(left, draw)
        try:
            broken += seen(left / "data") not in expected(disk.acknowledged)[0]
        except (engine.StorageError, AssertionError):
            broken += 1
    assert broken == 3


@pytest.mark.parametrize("code", [5, 28], ids=["EIO", "ENOSPC"])
def test_whichever_call_fails_a_write_is_whole_or_never_was(
    shim: Path, tmp_path: Path, code: int, tally: Tally
) -> None:
    draw = random.Random(code)
    calls = sorted(draw.sample(range(1, 400), runs(5, 399)))
    for call in calls:
        folder = tmp_path / f"call{call}"
        environment = {"FAULTS_AT": str(call), "FAULTS_ERRNO": str(code)}
        run_child(shim, folder, call % 7, 6, **environment)
        states, backups = expected((folder / "ACK").read_bytes())
        with tally.trial(f"the n-th call to the system fails ({errno.errorcode[code]})") as trial:
            assert seen(folder / "data", trial) in states, call
            for name, held in backups.items():
                assert seen(folder / name) in held, call
        shutil.rmtree(folder)
