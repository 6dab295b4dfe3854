"""Counts what fault tests try and what became of it; `conftest.py` prints the table of a long run."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

PROPERTY = "fault"


class Trial:
    """One fault that was brought about.

    Attributes:
        recovery_s: the longest that it took until the data answered again; 0 where nothing had to be opened.
    """

    recovery_s = 0.0

    @contextmanager
    def recovering(self) -> Generator[None]:
        """Time the block, which opens what the fault has left."""
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
            self._record(PROPERTY, [fault, survived, trial.recovery_s])


def table(trials: Iterable[tuple[str, bool, float]]) -> list[str]:
    """Lines of a table in Markdown: fault, runs, survived, lost, worst recovery in seconds.

    >>> print("\\n".join(table([("a kill", True, 0.5), ("a kill", False, 0.25)])))
    | fault | runs | survived | lost | worst recovery (s) |
    |---|---|---|---|---|
    | a kill | 2 | 1 | 1 | 0.50 |
    """
    counts: dict[str, list[Any]] = {}
    for fault, survived, recovery_s in trials:
        row = counts.setdefault(fault, [0, 0, 0.0])
        row[0] += 1
        row[1] += survived
        row[2] = max(row[2], recovery_s)
    lines = ["| fault | runs | survived | lost | worst recovery (s) |", "|---|---|---|---|---|"]
    for fault, (runs, survived, worst) in sorted(counts.items()):
        lines.append(
            f"| {fault} | {runs:,} | {survived:,} | {runs - survived:,} | {f'{worst:.2f}' if worst else '–'} |"
        )
    return lines
