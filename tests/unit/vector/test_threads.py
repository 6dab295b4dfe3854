"""The lock and the background thread."""

from __future__ import annotations

import logging
import os
import sys
import threading

import pytest

from engine.vector.background import Background, GivingWay
from engine.vector.shared_lock import SharedLock


def test_many_hold_the_lock_together() -> None:
    lock = SharedLock()
    meeting = threading.Barrier(3, timeout=10)

    def meet() -> None:
        with lock.shared():
            meeting.wait()

    threads = [threading.Thread(target=meet) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not meeting.broken


def test_alone_means_alone() -> None:
    lock = SharedLock()
    inside: list[str] = []
    seen: list[tuple[str, ...]] = []

    def work(kind: str) -> None:
        for _ in range(200):
            with lock.alone() if kind == "alone" else lock.shared():
                inside.append(kind)
                seen.append(tuple(inside))
                inside.remove(kind)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in ("alone", "alone", "shared", "shared")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(together == ("alone",) for together in seen if "alone" in together)


def test_who_waits_to_be_alone_is_not_passed_by_later_sharers() -> None:
    lock = SharedLock()
    order: list[str] = []
    first = lock.shared()
    first.__enter__()

    def be_alone() -> None:
        with lock.alone():
            order.append("alone")

    def share() -> None:
        with lock.shared():
            order.append("shared")

    alone = threading.Thread(target=be_alone)
    alone.start()
    while not lock._waiting:
        pass
    later = threading.Thread(target=share)
    later.start()
    first.__exit__(None, None, None)
    alone.join(10)
    later.join(10)
    assert order == ["alone", "shared"]


def test_the_lock_is_free_again_after_an_error() -> None:
    lock = SharedLock()
    for hold in (lock.shared, lock.alone):
        with pytest.raises(RuntimeError), hold():
            raise RuntimeError
    with lock.alone():
        pass


def test_steps_run_until_there_are_no_more_and_again_after_a_wake() -> None:
    left = [3]

    def step() -> bool:
        left[0] -= 1
        return left[0] > 0

    work = Background(step, "test")
    work.wake()
    assert work.wait_idle(10)
    assert left == [0]
    left[0] = 2
    work.wake()
    assert work.wait_idle(10)
    assert left == [0]
    work.stop()


def test_without_a_wake_there_is_no_thread() -> None:
    work = Background(lambda: False, "test never started")
    assert work.wait_idle(0)
    work.stop()
    assert "test never started" not in {thread.name for thread in threading.enumerate()}


def test_stopping_waits_for_the_step_under_way_and_starts_no_other() -> None:
    entered, steps = threading.Event(), [0]

    def step() -> bool:
        steps[0] += 1
        entered.set()
        return True

    work = Background(step, "test")
    work.wake()
    assert entered.wait(10)
    work.stop()
    after = steps[0]
    work.wake()
    assert work.is_stopped
    assert steps[0] == after
    assert "test" not in {thread.name for thread in threading.enumerate()}


def test_waiting_ends_when_the_time_is_over() -> None:
    release = threading.Event()

    def step() -> bool:
        release.wait(10)
        return False

    work = Background(step, "test")
    work.wake()
    assert not work.wait_idle(0.01)
    release.set()
    assert work.wait_idle(10)
    work.stop()


def test_heavy_calls_run_one_at_a_time_on_a_thread_that_gives_way() -> None:
    heavy = GivingWay("test heavy")
    inside, most, niceness = [0], [0], set[int]()

    def call() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        niceness.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        inside[0] -= 1

    threads = [threading.Thread(target=lambda: [heavy.run(call) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert most == [1]
    if sys.platform == "linux":
        assert niceness == {max(own, 10)}


def test_what_a_heavy_call_raises_reaches_the_caller_and_the_thread_lives_on() -> None:
    heavy = GivingWay("test heavy")

    def fail() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        heavy.run(fail)
    ran: list[int] = []
    heavy.run(lambda: ran.append(1))
    assert ran == [1]


def test_a_failing_step_is_logged_and_the_thread_lives_on(caplog: pytest.LogCaptureFixture) -> None:
    outcomes = [RuntimeError("broken"), None]

    def step() -> bool:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return False

    work = Background(step, "test")
    with caplog.at_level(logging.ERROR):
        work.wake()
        assert work.wait_idle(10)
    assert "background work failed" in caplog.text
    work.wake()
    assert work.wait_idle(10)
    assert outcomes == []
    work.stop()
