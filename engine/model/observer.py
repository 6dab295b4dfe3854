"""Where the engine reports what it does: durations by stage, and counts."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Observer(Protocol):
    """Receives measurements; called from any thread, must be quick and never raise.

    Stages: ``search``, the whole of a turn; in it ``plan``, ``embed``, ``filter``, ``lexical``, ``vector``, ``rank``,
    ``hydrate``, ``read``, ``answer``, ``verify``; of uploads ``derive``, ``write``.
    Counts: ``documents_written``, ``model_input_tokens``, ``model_output_tokens``, ``model_calls``, ``steps_degraded``.
    """

    def observe(self, stage: str, seconds: float) -> None: ...

    def count(self, name: str, n: int = 1) -> None: ...


class SilentObserver:
    """Ignores everything."""

    def observe(self, stage: str, seconds: float) -> None:
        pass

    def count(self, name: str, n: int = 1) -> None:
        pass


@contextmanager
def timed(observer: Observer, stage: str) -> Generator[None]:
    """Report how long the block took, also when it raises."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        observer.observe(stage, time.perf_counter() - begin)
