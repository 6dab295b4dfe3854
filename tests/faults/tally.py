"""Counts what fault tests try and what became of it; `tests/conftest.py` prints the table of a long run."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

PROPERTY = "fault"


class Trial:
    """One fault that was brought about.

    Attributes:
        recovery_s: the longest that it took until the data answered again, or that a request beside the fault waited; 0
            where neither was timed.
        grown_bytes: how much more memory was resident at the most than before; 0 where it was not looked at.
    """

    recovery_s = 0.0
    grown_bytes = 0

    @contextmanager
    def recovering(self) -> Generator[None]:
        """Time the block, which opens what the fault has left, or asks for something beside it."""
        started = time.perf_counter()
        yield
        self.recovery_s = max(self.recovery_s, time.perf_counter() - started)


class Tally:
    """What a test's faults came to.

    Args:
        record: pytest's `record_property`, which carries it from the workers.
    """

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record

    @contextmanager
    def trial(self, fault: str) -> Generator[Trial]:
        """One fault of a kind: survived when the block ends, lost when an assertion or error ends it."""
        trial, survived = Trial(), False
        try:
            yield trial
            survived = True
        finally:
            self._record(PROPERTY, [fault, survived, trial.recovery_s, trial.grown_bytes])


def table(trials: Iterable[tuple[str, bool, float, int]]) -> list[str]:
    """Lines of a table in Markdown, a row a fault.

    Seconds are of recovery, or of a request beside the fault: what 95 of 100 kept below, and the most. Memory is what
    became resident beyond rest, at the most.

    >>> print("\\n".join(table([("a kill", True, 0.5, 0), ("a kill", False, 0.25, 3 << 20)])))
    | fault | runs | survived | lost | 95 of 100 (s) | worst (s) | memory (MiB) |
    |---|---|---|---|---|---|---|
    | a kill | 2 | 1 | 1 | 0.50 | 0.50 | 3 |
    """
    rows: dict[str, list[tuple[bool, float, int]]] = {}
    for fault, *trial in trials:
        rows.setdefault(fault, []).append((trial[0], trial[1], trial[2]))
    lines = [
        "| fault | runs | survived | lost | 95 of 100 (s) | worst (s) | memory (MiB) |",
        "|---|---|---|---|---|---|---|",
    ]
    for fault, held in sorted(rows.items()):
        survived = sum(trial[0] for trial in held)
        seconds = sorted(trial[1] for trial in held)
        grown = max(trial[2] for trial in held)
        times = [f"{seconds[-(-95 * len(held) // 100) - 1]:.2f}", f"{seconds[-1]:.2f}"] if seconds[-1] else ["–", "–"]
        cells = [
            f"{len(held):,}",
            f"{survived:,}",
            f"{len(held) - survived:,}",
            *times,
            f"{grown >> 20:,}" if grown else "–",
        ]
        lines.append(f"| {fault} | {' | '.join(cells)} |")
    return lines
