"""Threads that tenants share."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any

import pytest

from engine.agent.workers import Workers
from engine.fairness import TENANT, FairThreads


class Gate:
    """Work that waits until it is let go, and notes who began when."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.opened = threading.Event()
        self._changed = threading.Condition()

    def of(self, name: str) -> Any:
        def work() -> str:
            with self._changed:
                self.began.append(name)
                self._changed.notify_all()
            assert self.opened.wait(20)
            return name

        return work

    def wait_for(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.began) >= count, timeout=20)


def results(futures: list[Future[Any]]) -> list[Any]:
    return [future.result(20) for future in futures]


def test_whoever_has_much_to_do_does_not_keep_others_waiting() -> None:
    gate, threads = Gate(), FairThreads(1, "test")
    futures = [threads.submit("noisy", gate.of(f"noisy-{n}")) for n in range(20)]
    gate.wait_for(1)
    futures += [threads.submit("quiet", gate.of("quiet-0")), threads.submit("quiet", gate.of("quiet-1"))]
    gate.opened.set()
    results(futures)
    threads.shutdown()
    assert gate.began[:5] == ["noisy-0", "noisy-1", "quiet-0", "noisy-2", "quiet-1"]


async def searched(gate: Gate, workers: Workers) -> None:
    tasks: list[asyncio.Task[str]] = []
    for tenant, name in [("noisy", f"noisy-{n}") for n in range(5)] + [("quiet", "quiet")]:
        TENANT.set(tenant)
        tasks.append(asyncio.create_task(workers.run(gate.of(name))))
        await asyncio.sleep(0)
    await asyncio.to_thread(gate.wait_for, 1)
    gate.opened.set()
    await asyncio.gather(*tasks)


def test_searches_compute_in_turns_of_their_tenants() -> None:
    gate, workers = Gate(), Workers(1)
    asyncio.run(searched(gate, workers))
    workers.close()
    assert gate.began.index("quiet") <= 2


def test_one_tenant_never_has_all_threads() -> None:
    gate, threads = Gate(), FairThreads(3, "test", per_tenant=2)
    futures = [threads.submit("noisy", gate.of(f"noisy-{n}")) for n in range(5)]
    gate.wait_for(2)
    futures.append(threads.submit("quiet", gate.of("quiet")))
    gate.wait_for(3)
    assert gate.began == ["noisy-0", "noisy-1", "quiet"]
    gate.opened.set()
    results(futures)
    threads.shutdown()


def test_jobs_that_come_at_once_all_begin_while_there_are_threads() -> None:
    threads = FairThreads(6, "test")
    results([threads.submit("a", int) for _ in range(2)])
    for _ in range(20):
        gate = Gate()
        futures = [threads.submit("a", gate.of(str(n))) for n in range(6)]
        gate.wait_for(6)
        gate.opened.set()
        results(futures)
    threads.shutdown()


def test_jobs_of_one_lane_run_one_after_the_other_and_let_those_of_others_pass() -> None:
    gate, threads = Gate(), FairThreads(2, "test")
    futures = [threads.submit("a", gate.of(name), lane) for name, lane in (("n1", "n"), ("n2", "n"), ("m1", "m"))]
    gate.wait_for(2)
    assert sorted(gate.began) == ["m1", "n1"]
    gate.opened.set()
    assert results(futures) == ["n1", "n2", "m1"]
    threads.shutdown()


def test_what_a_job_raises_is_its_futures_and_the_thread_lives_on() -> None:
    threads = FairThreads(1, "test")
    failed = threads.submit("a", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failed.result(20)
    assert threads.submit("a", lambda: 2).result(20) == 2
    threads.shutdown()


def test_shut_down_it_ends_what_waits_or_cancels_it_and_takes_no_more() -> None:
    for cancel in (False, True):
        gate, threads = Gate(), FairThreads(1, "test")
        running, waiting = (threads.submit("a", gate.of(name)) for name in ("running", "waiting"))
        gate.wait_for(1)
        closing = threading.Thread(target=threads.shutdown, kwargs={"cancel": cancel})
        closing.start()
        if cancel:
            with pytest.raises(BaseException):  # noqa: B017 - concurrent.futures.CancelledError is no Exception
                waiting.result(20)
        gate.opened.set()
        closing.join(20)
        assert (running.result(0), waiting.cancelled()) == ("running", cancel)
        with pytest.raises(RuntimeError):
            threads.submit("a", int)


def test_a_cancelled_job_does_not_run() -> None:
    gate, threads = Gate(), FairThreads(1, "test")
    first, second, third = (threads.submit("a", gate.of(str(n))) for n in range(3))
    gate.wait_for(1)
    assert second.cancel()
    gate.opened.set()
    assert (first.result(20), third.result(20)) == ("0", "2")
    threads.shutdown()
    assert gate.began == ["0", "2"]
