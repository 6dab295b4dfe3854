"""An event loop of its own thread, so that one client serves callers of any loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopStopped(Exception):
    """The loop thread has ended, or ended while the work ran."""


class LoopThread:
    """Runs coroutines on one event loop in a daemon thread, started by the first of them.

    An HTTP client belongs to the loop that opened its connections. Searches come from a server's loop and from
    loops that live for one synchronous call; here they share one client, one pool and one limit.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, run on the thread's loop; cancelling this cancels it there.

        Raises:
            LoopStopped: after `stop`, or when `stop` comes while `work` runs.
        """
        try:
            return await asyncio.wrap_future(self._submit(work))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                # Not the caller was cancelled, but the work, by `stop`.
                raise LoopStopped from None
            raise

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """As `run`, for a caller without a loop; blocks."""
        try:
            return self._submit(work).result()
        except CancelledError:
            raise LoopStopped from None

    def stop(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """Cancel what runs, run `last`, and end the thread; blocks until then. A second call does nothing."""
        with self._lock:
            loop, thread, stopped = self._loop, self._thread, self._stopped
            self._stopped = True
        if loop is None or thread is None or stopped:
            if last is not None:
                last.close()
            return
        asyncio.run_coroutine_threadsafe(_wind_up(last), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._stopped:
                work.close()
                raise LoopStopped
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


async def _wind_up(last: Coroutine[Any, Any, None] | None) -> None:
    here = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not here]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if last is not None:
        await last
