"""Work on the store that nobody waits for."""

from __future__ import annotations

import threading

import pytest

from engine.errors import StorageError
from engine.upkeep import Task, Upkeep


@pytest.mark.parametrize("error", [StorageError("the disk failed"), ValueError("a fault of ours")])
def test_a_task_that_fails_is_logged_tried_again_and_blocks_no_other(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failed, done = threading.Semaphore(0), threading.Event()

    def fail() -> None:
        failed.release()
        raise error

    upkeep = Upkeep([Task("sessions", 0.001, fail, at_start=True), Task("keys", 0.05, done.set)])
    try:
        assert failed.acquire(timeout=20)
        assert failed.acquire(timeout=20)
        assert done.wait(20)
    finally:
        upkeep.stop()
    assert "The upkeep of sessions failed and will be tried again" in caplog.text
