"""Many small namespaces in one process: making them, opening them on use, and what each costs while it is open.

    python -m benchmarks.scale                       300 namespaces of 20 documents
    python -m benchmarks.scale --namespaces 1000

Texts are those of `benchmarks.speed`, 60 words a document, with the default embedder. Each phase runs in a process of
its own, so that its memory is its own: `write` makes the namespaces and keeps 300 of them open; `read` opens 300 by a
search each and keeps them open; `evict` does the same with the default `open_namespaces`, so that most openings close
another namespace first, and then draws namespaces at random.
Times are wall clock. Memory is resident memory beyond that before the first namespace, divided by the open namespaces.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import engine
from benchmarks.speed import SEED, Texts, percentiles, resident_mb
from engine.settings import EngineSettings, StorageSettings

DOCUMENTS = 20
OPEN_AT_MOST = 300
"""In the phases that keep all open: beyond, a process runs out of threads and files sooner than it teaches anything."""
WORDS = 60
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "topic": {"type": "int", "is_filterable": True},
}


def opened(folder: Path, open_namespaces: int | None) -> engine.Engine:
    storage = StorageSettings() if open_namespaces is None else StorageSettings(open_namespaces=open_namespaces)
    return engine.open(folder, agent="offline", settings=EngineSettings(storage=storage))


def name(number: int) -> str:
    return f"tenant-{number:05}"


def held() -> dict[str, int]:
    """Threads and open files of this process, beyond which an operating system says no."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    return {
        "threads": threads,
        "python_threads": threading.active_count(),
        "files": len(list(Path("/proc/self/fd").iterdir())),
    }


def kilobytes(folder: Path) -> float:
    """Blocks that the disk gave, which is more than the files' lengths."""
    return sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()) / 1024


def write(folder: Path, count: int) -> dict[str, object]:
    texts = Texts()
    batches = [list(texts.documents(DOCUMENTS, WORDS)) for _ in range(count + 1)]
    taken: list[float] = []
    kept = min(count, OPEN_AT_MOST)
    with opened(folder, kept + 1) as quarry:
        quarry.upsert("warm", batches[-1], SCHEMA)
        quarry.retrieve("warm", "which namespace")
        before = resident_mb()
        for number in range(count):
            started = time.perf_counter()
            quarry.upsert(name(number), batches[number], SCHEMA)
            taken.append(time.perf_counter() - started)
        memory, now = resident_mb() - before, held()
        started = time.perf_counter()
    closing = time.perf_counter() - started
    return {
        "create": percentiles(taken),
        "first_tenth": percentiles(taken[: max(1, count // 10)]),
        "last_tenth": percentiles(taken[-max(1, count // 10) :]),
        "memory_mb_each": round(memory / kept, 2),
        "close_all_s": round(closing, 2),
        "disk_kb_each": round(kilobytes(folder / "namespaces") / (count + 1), 1),
        "catalog_kb_each": round(kilobytes(folder) / (count + 1) - kilobytes(folder / "namespaces") / (count + 1), 1),
        **now,
    }


def searched(quarry: engine.Engine, numbers: list[int], texts: Texts) -> list[float]:
    taken: list[float] = []
    for number in numbers:
        question = texts.question()
        started = time.perf_counter()
        quarry.retrieve(name(number), question)
        taken.append(time.perf_counter() - started)
    return taken


def read(folder: Path, count: int) -> dict[str, object]:
    texts = Texts(SEED + 1)
    count = min(count, OPEN_AT_MOST)
    started = time.perf_counter()
    with opened(folder, count + 1) as quarry:
        engine_open = time.perf_counter() - started
        quarry.retrieve("warm", "which namespace")
        before = resident_mb()
        first = searched(quarry, list(range(count)), texts)
        memory, now = resident_mb() - before, held()
        again = searched(quarry, list(range(count)), texts)
    return {
        "engine_open_s": round(engine_open, 2),
        "search_that_opens": percentiles(first),
        "search_when_open": percentiles(again),
        "memory_mb_each": round(memory / count, 2),
        **now,
    }


def evict(folder: Path, count: int) -> dict[str, object]:
    texts = Texts(SEED + 2)
    with opened(folder, None) as quarry:
        quarry.retrieve("warm", "which namespace")
        before = resident_mb()
        in_turn = searched(quarry, list(range(count)), texts)
        drawn = np.random.default_rng(SEED).integers(0, count, 500).tolist()
        at_random = searched(quarry, drawn, texts)
        memory, now = resident_mb() - before, held()
    capacity = StorageSettings().open_namespaces
    return {
        "open_namespaces": capacity,
        "opening_without_closing": percentiles(in_turn[: min(capacity, count) - 1]),
        "opening_and_closing_another": percentiles(in_turn[capacity:] or in_turn),
        "at_random": percentiles(at_random),
        "memory_mb": round(memory, 1),
        **now,
    }


PHASES = {"write": write, "read": read, "evict": evict}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--namespaces", type=int, default=300)
    parser.add_argument("--phase", choices=list(PHASES), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.phase:
        sys.stdout.write(json.dumps(PHASES[chosen.phase](chosen.folder, chosen.namespaces)))
        return
    with tempfile.TemporaryDirectory(prefix="quarry-scale-") as folder:
        for phase in PHASES:
            command = [sys.executable, "-m", "benchmarks.scale", "--phase", phase, "--folder", f"{folder}/data"]
            run = subprocess.run([*command, "--namespaces", str(chosen.namespaces)], check=True, capture_output=True)
            sys.stdout.write(json.dumps({phase: json.loads(run.stdout)}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
