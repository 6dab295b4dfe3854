from __future__ import annotations

import asyncio
import threading

import pytest

from engine.llm.loop_thread import LoopStopped, LoopThread


async def current_thread() -> str:
    return threading.current_thread().name


def test_work_of_any_loop_runs_on_the_one_thread() -> None:
    runner = LoopThread("worker-under-test")
    names = {asyncio.run(runner.run(current_thread())) for _ in range(3)} | {runner.run_sync(current_thread())}
    runner.stop()
    assert names == {"worker-under-test"}


def test_no_thread_is_started_before_there_is_work() -> None:
    LoopThread("never-started").stop()
    assert "never-started" not in {thread.name for thread in threading.enumerate()}


def test_an_exception_of_the_work_reaches_the_caller() -> None:
    async def fail() -> None:
        raise KeyError("x")

    runner = LoopThread("t")
    with pytest.raises(KeyError):
        asyncio.run(runner.run(fail()))
    runner.stop()


def test_cancelling_the_caller_cancels_the_work() -> None:
    cancelled = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async def main(runner: LoopThread) -> None:
        task = asyncio.create_task(runner.run(wait()))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    runner = LoopThread("t")
    asyncio.run(main(runner))
    assert cancelled.wait(5)
    runner.stop()


def test_stopping_ends_work_under_way_without_cancelling_its_caller() -> None:
    async def main(runner: LoopThread) -> None:
        task = asyncio.create_task(runner.run(asyncio.sleep(60)))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(runner.stop)
        with pytest.raises(LoopStopped):
            await task

    asyncio.run(main(LoopThread("t")))


def test_stopping_ends_the_wait_of_a_caller_without_a_loop() -> None:
    runner, started, seen = LoopThread("t"), threading.Event(), list[str]()

    async def wait() -> None:
        started.set()
        await asyncio.sleep(60)

    def caller() -> None:
        with pytest.raises(LoopStopped):
            runner.run_sync(wait())
        seen.append("stopped")

    thread = threading.Thread(target=caller)
    thread.start()
    assert started.wait(5)
    runner.stop()
    thread.join(5)
    assert seen == ["stopped"]


def test_a_stopped_thread_takes_no_work_and_is_gone() -> None:
    runner = LoopThread("gone-after-stop")
    runner.run_sync(current_thread())
    runner.stop()
    runner.stop()
    with pytest.raises(LoopStopped):
        runner.run_sync(current_thread())
    assert "gone-after-stop" not in {thread.name for thread in threading.enumerate()}
