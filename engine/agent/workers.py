"""The threads that searches compute on."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

THREADS = min(max(os.cpu_count() or 2, 2), 4)
"""Over all searches. Python runs one of them at a time, and whatever else the process does waits for its turn among
them: with 8 on two cores an upload beside 64 clients took 9 s, with 2 half a second, and searches no longer
(``python -m benchmarks.http --only soak``)."""


class InThread(Protocol):
    """Runs blocking work for a coroutine, in a thread and with the coroutine's context, as `asyncio.to_thread` does."""

    async def __call__(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


class Workers:
    """Shared by all searches of one data directory. Work that is given to `run` must not wait for other work there."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="quarry-search")

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``work(*args, **kwargs)`` once a thread is free."""
        call = partial(contextvars.copy_context().run, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        """Let running work end and start no more."""
        self._threads.shutdown(wait=True, cancel_futures=True)
