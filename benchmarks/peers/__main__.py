"""Quarry beside LanceDB, Chroma, faiss, tantivy and numpy: the same passages, vectors and questions, in one run.

    python -m benchmarks.peers                                       100,000 passages, every system that is installed
    python -m benchmarks.peers --systems quarry,lancedb --n 10000 --n 100000
    python -m benchmarks.peers --peer-python /tmp/peers/bin/python   the others from an environment of their own

The extra ``bench-peers`` brings the others' libraries, best into an environment of its own:
``python -m venv /tmp/peers && /tmp/peers/bin/pip install chromadb lancedb faiss-cpu tantivy matplotlib``. txtai is left
out: it needs torch, some gigabytes. Each system runs in a process of its own, all are alive at once, and the questions
go round them in turns, so that whatever else the machine does falls on all alike. Passages have 60 words and vectors of
256 dimensions, given; filters allow ``bucket < share``; recall is against an exact product. Times are wall clock beside
the processor time of the process, which on a busy machine says more. Results: JSON, a table on standard output, and
with ``--plot`` an SVG.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.corpus import SHARES, make
from benchmarks.peers.systems import SYSTEMS
from benchmarks.report import environment, table, write_results

SEED = 20261122
OUTPUT = Path("bench-results/peers.json")
ROUNDS = 5
QUESTIONS_A_ROUND = 20
OPERATIONS = [("hybrid", 1.0), ("text", 1.0), ("vector", 1.0), *(("vector", share) for share in SHARES)]
LIBRARIES = {"quarry": "engine", "lancedb": "lancedb", "chroma": "chromadb", "faiss": "faiss"}


class Process:
    """A worker of one system."""

    def __init__(self, python: str, system: str, folder: Path) -> None:
        root = str(Path(__file__).parents[2])
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.peers.worker", system, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": root, "RUST_LOG": "error"},
        )

    def ask(self, *command: object) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a worker ended: {self.process.args}")
        return json.loads(line)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write('["quit"]\n')
        self.process.stdin.close()
        self.process.wait(60)


def measure(systems: dict[str, str], count: int) -> dict[str, dict[str, Any]]:
    """System → figures, at `count` passages."""
    with tempfile.TemporaryDirectory(prefix="quarry-peers-") as scratch:
        folder = Path(scratch)
        make(folder, count, SEED)
        workers = {name: Process(python, name, folder) for name, python in systems.items()}
        out: dict[str, dict[str, Any]] = {name: {"build": worker.ask("build")} for name, worker in workers.items()}
        samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for turn in range(ROUNDS):
            for operation, share in OPERATIONS:
                for name, worker in workers.items():
                    first = turn * QUESTIONS_A_ROUND
                    answer = worker.ask("ask", operation, share, first, QUESTIONS_A_ROUND)
                    if answer is not None:
                        samples.setdefault((name, _key(operation, share)), []).append(answer)
        for (name, key), rounds in samples.items():
            out[name][key] = _summary(rounds)
        for name, worker in workers.items():
            out[name]["threads"] = worker.ask("throughput", 4, 5.0)
        for name, worker in workers.items():
            out[name]["change"] = worker.ask("change")
            worker.end()
        for name, python in systems.items():
            worker = Process(python, name, folder)
            out[name]["open"] = worker.ask("reopen", 200)
            worker.end()
    return out


def _key(operation: str, share: float) -> str:
    return operation if share >= 1 else f"{operation} {100 * share:g}%"


def _summary(rounds: list[dict[str, Any]]) -> dict[str, float]:
    times = np.concatenate([each["ms"] for each in rounds])
    recall = [value for each in rounds for value in each["recall"]]
    found = {f"p{p}_ms": round(float(np.percentile(times, p)), 2) for p in (50, 95)}
    found["cpu_ms"] = round(float(np.mean([each["cpu_ms"] for each in rounds])), 2)
    return found | ({"recall": round(float(np.mean(recall)), 4)} if recall else {})


def shown(figures: dict[str, dict[str, Any]]) -> str:
    """The figures of one size as a table, a row a measure."""
    names = list(figures)
    rows: list[list[str]] = []

    def row(title: str, key: str, form: Any) -> None:
        held = [figures[name].get(key) for name in names]
        if any(held):
            rows.append([title, *("–" if one is None else form(one) for one in held)])

    def timed(one: dict[str, float]) -> str:
        recall = f", {one['recall']:.3f}" if "recall" in one else ""
        return f"{one['p50_ms']:.1f} / {one['p95_ms']:.1f} ({one['cpu_ms']:.1f}){recall}"

    row("hybrid p50 / p95 (CPU) ms", "hybrid", timed)
    row("questions/s on 4 threads", "threads", lambda one: f"{one['per_s']:.0f} {one['operation']}")
    row("text", "text", timed)
    row("vector, recall@10", "vector", timed)
    for share in SHARES:
        row(f"… filter {100 * share:g} %", _key("vector", share), timed)
    row("index built, passages/s (CPU s)", "build", lambda one: f"{one['passages_per_s']:.0f} ({one['cpu_s']:.0f})")
    row("… most memory meanwhile, bytes a passage", "build", lambda one: f"{one['peak_bytes']:.0f}")
    row("disk bytes a passage", "build", lambda one: f"{one['disk_bytes']:.0f}")
    row("resident bytes a passage", "open", lambda one: f"{one['resident_bytes']:.0f}")
    row("open and first answer, s", "open", lambda one: f"{one['first_s']:.2f}")
    row("replace / delete 1,000, s", "change", lambda one: f"{one['replace_s']:.2f} / {one['delete_s']:.2f}")
    return table(["", *names], rows)


def _finds(python: str, system: str) -> bool:
    library = LIBRARIES.get(system, system)
    return subprocess.run([python, "-c", f"import {library}"], capture_output=True, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help=f"of {', '.join(SYSTEMS)}")
    parser.add_argument("--n", type=int, action="append", help="passages; may be given again (default 100,000)")
    parser.add_argument("--peer-python", default=sys.executable, help="the interpreter of the others' libraries")
    parser.add_argument("--plot", type=Path, help="write an SVG here, by --peer-python")
    options = parser.parse_args()
    chosen = {name: sys.executable if name == "quarry" else options.peer_python for name in options.systems.split(",")}
    systems = {name: python for name, python in chosen.items() if _finds(python, name)}
    for name in chosen.keys() - systems.keys():
        print(f"{name} is not installed and left out", file=sys.stderr)
    sizes: dict[str, dict[str, dict[str, Any]]] = {}
    for count in options.n or [100_000]:
        sizes[str(count)] = measure(systems, count)
        print(f"\n### {count:,} passages\n\n{shown(sizes[str(count)])}", flush=True)
    write_results(OUTPUT, {"environment": environment(), "seed": SEED, "sizes": sizes})
    if options.plot:
        command = [options.peer_python, "-m", "benchmarks.peers.plot", str(OUTPUT), str(options.plot)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    return 0


if __name__ == "__main__":
    sys.exit(main())
