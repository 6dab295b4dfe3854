"""Where the milliseconds of a whole offline search go, by stage, and whether a change leaves the answers as they are.

    python -m benchmarks.stages                              the collections that are there, 100 questions each
    python -m benchmarks.stages --passages 100000            and the texts of `benchmarks.speed`
    python -m benchmarks.stages --answers before.json        also write what was answered; given again, compare

Each collection is indexed in a process of its own and searched in another, after ten questions that are not counted.
`cpu` is the processor time of all threads; stages are wall clock, and those inside another one are counted in both:
``search`` is all but the commit of the session, ``answer`` judges and writes, ``read`` chooses sentences.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import engine
from benchmarks.data import SCHEMAS, data_folder, open_collection, present_collections
from benchmarks.report import table
from benchmarks.speed import Stages, build, percentiles, questions_file

COLLECTIONS = ("multihop_rag", "squad_dev")
TEXTS = "texts"
WARMING = 10
CONTEXT = "Background is not known."


def fill(folder: Path, name: str, data: Path, passages: int) -> None:
    if name == TEXTS:
        build(folder, passages)
        return
    with engine.open(folder, agent="offline") as quarry:
        quarry.upsert("bench", open_collection(name, data).documents(), SCHEMAS[name])
        quarry.maintain("bench")


def questions(folder: Path, name: str, data: Path, count: int) -> list[str]:
    if name == TEXTS:
        return questions_file(folder).read_text(encoding="utf-8").splitlines()[:count]
    held = open_collection(name, data).questions()
    return [question.text for question in held[:: max(1, len(held) // count)][:count]]


def measured(folder: Path, name: str, data: Path, count: int) -> dict[str, object]:
    stages = Stages()
    taken: list[float] = []
    answers: list[str] = []
    queries = 0
    with engine.open(folder, agent="offline", observer=stages) as quarry:
        quarry.maintain("bench")
        for number, text in enumerate(questions(folder, name, data, count + WARMING)):
            if number == WARMING:
                stages.each.clear()
                cpu = time.process_time()
            begin = time.perf_counter()
            response = quarry.search("bench", objective=text, context=CONTEXT)
            if number >= WARMING:
                taken.append(time.perf_counter() - begin)
                answers.append(response.synthesis)
                queries += response.queries_executed
        cpu = time.process_time() - cpu
    asked = len(taken)
    return {
        "times": percentiles(taken),
        "cpu_ms": round(1000 * cpu / asked, 1),
        "queries": round(queries / asked, 1),
        "stages": {
            stage: (round(len(held) / asked, 1), round(1000 * float(np.sum(held)) / asked, 1))
            for stage, held in stages.each.items()
        },
        "answers": answers,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--passages", type=int, default=0)
    parser.add_argument("--limit", type=int, default=100, help="questions a collection")
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = data_folder(options.data)
    if options.fill:
        fill(options.fill, options.name, data, options.passages)
        return 0
    if options.measure:
        print(json.dumps(measured(options.measure, options.name, data, options.limit)))
        return 0
    names = [collection.name for collection in present_collections(COLLECTIONS, data)]
    names += [TEXTS] if options.passages else []
    found = {}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="quarry-stages-") as scratch:
            own = [
                "--name",
                name,
                "--data",
                str(data),
                "--passages",
                str(options.passages),
                "--limit",
                str(options.limit),
            ]
            _run("--fill", f"{scratch}/data", *own)
            found[name] = json.loads(_run("--measure", f"{scratch}/data", *own))
    every = dict.fromkeys(stage for one in found.values() for stage in one["stages"])
    rows = [
        ["p50 / p95 ms", *(f"{one['times']['p50_ms']} / {one['times']['p95_ms']}" for one in found.values())],
        ["cpu ms", *(str(one["cpu_ms"]) for one in found.values())],
        ["queries", *(str(one["queries"]) for one in found.values())],
    ]
    for stage in sorted(every, key=lambda s: -max(one["stages"].get(s, (0, 0))[1] for one in found.values())):
        cells = [one["stages"].get(stage, (0, 0)) for one in found.values()]
        rows.append([stage, *(f"{times:g} × {ms / max(times, 0.1):.1f} = {ms:.1f}" for times, ms in cells)])
    print(table(["a search", *found], rows))
    if options.answers:
        return _compared({name: one["answers"] for name, one in found.items()}, options.answers)
    return 0


def _compared(answers: dict[str, list[str]], before: Path) -> int:
    """Write the answers, or say how many are those that were written before; 1 where one is not."""
    if not before.exists():
        before.write_text(json.dumps(answers, ensure_ascii=False, indent=1), encoding="utf-8")
        return 0
    known = json.loads(before.read_text(encoding="utf-8"))
    same = {
        name: sum(a == b for a, b in zip(held, known.get(name, []), strict=False)) for name, held in answers.items()
    }
    for name, count in same.items():
        print(f"{name}: {count} of {len(answers[name])} answers as before")
    return int(any(count < len(answers[name]) for name, count in same.items()))


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.stages", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
