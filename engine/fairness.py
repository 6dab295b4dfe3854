"""Threads that several tenants share: whoever has much to do waits for his own, not the others for him."""

from __future__ import annotations

import atexit
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

TENANT: ContextVar[Hashable] = ContextVar("tenant", default=None)
"""Whose work it is that runs in a context: a server sets it for each request, to the key that asked."""


class _Job(NamedTuple, Generic[T]):
    future: Future[T]
    work: Callable[[], T]
    lane: Hashable | None


class FairThreads:
    """Runs work of tenants in turn: the next job is that of the tenant who has been served longest ago.

    The jobs of one tenant begin in the order of their coming, but for those whose lane is taken.

    Args:
        threads: how many; made when they are needed.
        per_tenant: how many of them one tenant may have at once; None for all.
    """

    def __init__(self, threads: int, name: str, *, per_tenant: int | None = None) -> None:
        self._most = threads
        self._per_tenant = threads if per_tenant is None else per_tenant
        self._name = name
        self._changed = threading.Condition()
        # Tenants with waiting jobs, the one who was served longest ago first.
        self._waiting: OrderedDict[Hashable, deque[_Job[Any]]] = OrderedDict()
        self._running: Counter[Hashable] = Counter()
        self._lanes: set[Hashable] = set()
        self._threads: list[threading.Thread] = []
        self._queued = 0
        self._idle = 0
        self._is_closed = False
        # A process that ends without closing must not end in the middle of a statement: it would abort.
        atexit.register(self.shutdown, cancel=True)

    def submit(self, tenant: Hashable, work: Callable[[], T], lane: Hashable | None = None) -> Future[T]:
        """The future of ``work()``.

        Args:
            lane: no two jobs of one lane run at once; None is no lane.

        Raises:
            RuntimeError: after `shutdown`.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._is_closed:
                raise RuntimeError("the threads are shut down")
            self._waiting.setdefault(tenant, deque()).append(_Job(future, work, lane))
            self._queued += 1
            # An idle thread that was woken for an earlier job still counts as idle.
            if self._queued > self._idle and len(self._threads) < self._most:
                thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()
        return future

    def shutdown(self, *, cancel: bool = False) -> None:
        """Take no more jobs; returns when those that wait, unless cancelled, and those that run have ended."""
        with self._changed:
            self._is_closed = True
            dropped = [job for jobs in self._waiting.values() for job in jobs] if cancel else []
            if cancel:
                self._waiting.clear()
                self._queued = 0
            self._changed.notify_all()
        for job in dropped:
            job.future.cancel()
        for thread in self._threads:
            thread.join()
        atexit.unregister(self.shutdown)

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while (taken := self._take()) is None:
                    if self._is_closed and not self._waiting:
                        self._idle -= 1
                        return
                    self._changed.wait()
                self._idle -= 1
            tenant, job = taken
            _run(job)
            with self._changed:
                self._running[tenant] -= 1
                if not self._running[tenant]:
                    del self._running[tenant]
                self._lanes.discard(job.lane)
                self._changed.notify_all()
            # Not held while the thread waits for the next one.
            del taken, job

    def _take(self) -> tuple[Hashable, _Job[Any]] | None:
        """The next job that may begin, taken off its queue; None when there is none."""
        for tenant, jobs in self._waiting.items():
            if self._running[tenant] >= self._per_tenant:
                continue
            for job in jobs:
                if job.lane is None or job.lane not in self._lanes:
                    break
            else:
                continue
            jobs.remove(job)
            self._queued -= 1
            if jobs:
                self._waiting.move_to_end(tenant)
            else:
                del self._waiting[tenant]
            self._running[tenant] += 1
            if job.lane is not None:
                self._lanes.add(job.lane)
            return tenant, job
        return None


def _run(job: _Job[Any]) -> None:
    if not job.future.set_running_or_notify_cancel():
        return
    try:
        result = job.work()
    except BaseException as error:  # noqa: BLE001 - it is the future's to raise
        job.future.set_exception(error)
    else:
        job.future.set_result(result)
