"""One system in a process of its own: reads commands, a JSON list a line, and answers each with a line of JSON.

    python -m benchmarks.peers.worker SYSTEM FOLDER

The first interpreter that finds the system's library runs it; `benchmarks.peers` starts it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.corpus import BUCKETS, Corpus, load
from benchmarks.peers.systems import SYSTEMS, Base, Cannot


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def peak_bytes() -> int:
    """The most resident memory since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Worker:
    def __init__(self, name: str, folder: Path) -> None:
        self.system: Base = SYSTEMS[name]()
        self.folder = folder / name
        self.corpus: Corpus = load(folder)
        self.truth: dict[tuple[int, float], set[int]] = {}

    def build(self) -> dict[str, Any]:
        self.folder.mkdir()
        self.system.take(self.corpus)
        forget_peak()
        before = resident_bytes()
        begin, cpu = time.perf_counter(), time.process_time()
        self.system.build(self.folder, self.corpus)
        took, cpu = time.perf_counter() - begin, time.process_time() - cpu
        count = len(self.corpus.texts)
        return {
            "passages_per_s": count / took,
            "cpu_s": cpu,
            "disk_bytes": disk_bytes(self.folder) / count,
            "peak_bytes": (peak_bytes() - before) / count,
        }

    def asked(self, operation: str, share: float) -> Callable[[int], list[int]]:
        corpus, system = self.corpus, self.system
        if operation == "hybrid":
            return lambda n: system.hybrid(corpus.questions[n], corpus.question_vectors[n])
        if operation == "text":
            return lambda n: system.text(corpus.questions[n])
        below = None if share >= 1 else int(share * BUCKETS)
        return lambda n: system.vector(corpus.question_vectors[n], below)

    def ask(self, operation: str, share: float, first: int, count: int) -> dict[str, Any]:
        """Times in ms of `count` questions from `first` on, CPU included, and the recall of vectors."""
        call, times, recall = self.asked(operation, share), list[float](), list[float]()
        call(first)
        cpu = time.process_time()
        answers = []
        for n in range(first, first + count):
            begin = time.perf_counter()
            answers.append((n, call(n)))
            times.append(1000 * (time.perf_counter() - begin))
        cpu = 1000 * (time.process_time() - cpu) / count
        for n, found in answers if operation == "vector" else []:
            if (n, share) not in self.truth:
                self.truth[n, share] = self.corpus.nearest(n, share)
            wanted = self.truth[n, share]
            recall.append(len(wanted.intersection(found)) / len(wanted))
        return {"ms": times, "cpu_ms": cpu, "recall": recall}

    def throughput(self, threads: int, seconds: float) -> dict[str, Any]:
        """Hybrid questions a second of `threads` threads; of another kind where the system knows no hybrid ones."""
        operation = self._first_operation()
        call, stop, done = self.asked(operation, 1.0), time.perf_counter() + seconds, [0] * threads

        def run(number: int) -> None:
            at = number
            while time.perf_counter() < stop:
                call(at % len(self.corpus.questions))
                at += threads
                done[number] += 1

        started = [threading.Thread(target=run, args=[n]) for n in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return {"operation": operation, "per_s": sum(done) / seconds}

    def change(self) -> dict[str, Any]:
        """Seconds to replace 1,000 passages, and to delete them."""
        numbers = np.random.default_rng(5).choice(len(self.corpus.texts), 1_000, replace=False).tolist()
        begin = time.perf_counter()
        self.system.replace(numbers, self.corpus)
        replaced = time.perf_counter()
        self.system.delete(numbers)
        return {"replace_s": replaced - begin, "delete_s": time.perf_counter() - replaced}

    def reopen(self, questions: int) -> dict[str, Any]:
        """Seconds from opening to the first answer, and the memory of the index after `questions` of each kind."""
        corpus = self.corpus
        before = resident_bytes()
        begin = time.perf_counter()
        self.system.open(self.folder)
        first = self._first_operation()
        took = time.perf_counter() - begin
        for n in range(questions):
            for operation in ("hybrid", "vector", "text"):
                try:
                    self.asked(operation, 1.0)(n)
                except Cannot:
                    continue
        time.sleep(1)
        return {
            "first_s": took,
            "first_is": first,
            "resident_bytes": (resident_bytes() - before) / len(corpus.texts),
        }

    def _first_operation(self) -> str:
        for operation in ("hybrid", "vector", "text"):
            try:
                self.asked(operation, 1.0)(0)
            except Cannot:
                continue
            return operation
        raise Cannot

    def quit(self) -> None:
        self.system.close()
        sys.exit()


def main() -> None:
    worker = Worker(sys.argv[1], Path(sys.argv[2]))
    answers = sys.stdout
    # Libraries that print would break the conversation.
    sys.stdout = sys.stderr
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            answer = getattr(worker, command)(*arguments)
        except Cannot:
            answer = None
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
