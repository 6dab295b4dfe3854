"""The threads that searches compute on."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from engine.errors import EngineClosed
from engine.fairness import TENANT, FairThreads

P = ParamSpec("P")
T = TypeVar("T")

THREADS = min(max(os.cpu_count() or 2, 2), 4)
"""Over all searches, where everything is computed here. Python runs one of them at a time for the most part, and all
else in the process waits for its turn among them: with 8 on two cores an upload beside 64 clients took 9 s, with 2 half
a second, and searches no longer (``python -m benchmarks.http --only soak``)."""
WAITING_THREADS = 8
"""The same where an embedder may wait for a service meanwhile."""


class InThread(Protocol):
    """Runs blocking work for a coroutine, in a thread and with the coroutine's context, as `asyncio.to_thread` does."""

    async def __call__(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


class Workers:
    """Shared by all searches of one data directory; tenants are served in turn.

    Work that is given to `run` must not wait for other work there.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = FairThreads(threads, "quarry-work")

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``work(*args, **kwargs)`` once a thread is free.

        Raises:
            EngineClosed: `close` came before it began.
        """
        context = contextvars.copy_context()
        try:
            future = self._threads.submit(TENANT.get(), lambda: context.run(work, *args, **kwargs))
        except RuntimeError as error:
            raise EngineClosed from error
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody cancelled the caller: what it waited for was taken off the queue.
            raise EngineClosed from None

    def close(self) -> None:
        """Let running work end and start no more."""
        self._threads.shutdown(cancel=True)
