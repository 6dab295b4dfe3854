"""How each operation grows with the number of passages: its processor time at several sizes, and the exponent fitted.

    python -m benchmarks.growth                                 10,000 to 100,000 passages of 60 words, minutes
    python -m benchmarks.growth --n 10000 --n 100000 --n 1000000

Texts, questions and filters are those of `benchmarks.speed`. The exponent is the slope of log time over log size (least
squares): 0 is constant, 1 grows with the data. Processor time, because it does not depend on what else the machine
does. Each size is built in a process of its own and measured in another.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import engine
from benchmarks.report import table, write_results
from benchmarks.speed import SCHEMA, TOPICS, Texts, questions_file, resident_mb

OUTPUT = Path("bench-results/growth.json")
SIZES = (10_000, 20_000, 50_000, 100_000)
ASKED = 100
CHANGED = 200


def measured(folder: Path) -> dict[str, float]:
    """Operation → processor time in ms; with bytes a passage at the end."""
    asked = iter(questions_file(folder).read_text(encoding="utf-8").splitlines())
    question = asked.__next__
    out: dict[str, float] = {}
    cpu = time.process_time()
    with engine.open(folder, agent="offline") as quarry:
        quarry.retrieve("bench", question())
        out["open and first answer"] = 1000 * (time.process_time() - cpu)
        # The graph is loaded behind the first answers.
        quarry.maintain("bench")
        turns = iter(range(10**6))
        calls: dict[str, Callable[[], object]] = {
            f"retrieve {mode}": lambda m=mode: quarry.retrieve("bench", question(), mode=m)
            for mode in ("hybrid", "lexical", "vector", "planned")
        }
        for share, where in (("0.1 %", {"thousandth": 7}), ("10 %", {"thousandth": {"$lt": 100}})):
            # A clause that is always true makes the filter one that was not asked before.
            calls[f"vector, new filter of {share}"] = lambda w=where: quarry.retrieve(
                "bench",
                question(),
                filters={"$and": [w, {"topic": {"$ne": TOPICS + next(turns)}}]},
                mode="vector",
            )
        calls["get"] = lambda: quarry.get("bench", f"d{next(turns)}")
        for name, call in calls.items():
            call()
            cpu = time.process_time()
            for _ in range(ASKED):
                call()
            out[name] = 1000 * (time.process_time() - cpu) / ASKED
        changed = list(Texts(5).documents(CHANGED, 60))
        cpu = time.process_time()
        quarry.upsert("bench", changed, SCHEMA)
        out[f"replace {CHANGED}"] = 1000 * (time.process_time() - cpu)
        cpu = time.process_time()
        quarry.delete("bench", document_ids=[str(document["id"]) for document in changed])
        out[f"delete {CHANGED}"] = 1000 * (time.process_time() - cpu)
        out["resident MB"] = resident_mb()
    out["disk MB"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    return out


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of log value over log size.

    >>> round(exponent([10, 100, 1000], [1.0, 10.0, 100.0]), 3)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, action="append", help="passages; give it twice or more")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return 0
    sizes: list[int] = sorted(options.n or SIZES)
    found: list[dict[str, float]] = []
    for count in sizes:
        with tempfile.TemporaryDirectory(prefix="quarry-growth-") as scratch:
            folder = f"{scratch}/data"
            _run("benchmarks.speed", "--build", folder, "--scale", str(count / 100_000))
            found.append(json.loads(_run("benchmarks.growth", "--measure", folder)))
    rows = [
        [name, *(f"{each[name]:.1f}" for each in found), f"{exponent(sizes, [each[name] for each in found]):.2f}"]
        for name in found[0]
    ]
    print(table(["CPU ms", *(f"{count:,}" for count in sizes), "exponent"], rows))
    write_results(OUTPUT, {str(count): each for count, each in zip(sizes, found, strict=True)})
    return 0


def _run(module: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
