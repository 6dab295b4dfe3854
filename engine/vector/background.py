"""Work beside the queries: small steps on a thread of their own, and heavy calls on one that gives way."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

_log = logging.getLogger(__name__)

_NICENESS = 10


class Background:
    """Calls `step` on a thread of its own, again while it returns True, and after each `wake`.

    The thread starts with the first `wake` and is a daemon: a step never outlives the process. A step that raises is
    logged and ends the work until the next `wake`.
    """

    def __init__(self, step: Callable[[], bool], name: str) -> None:
        self._step = step
        self._name = name
        self._changed = threading.Condition()
        self._wanted = False
        self._busy = False
        self._stopped = False
        self._thread: threading.Thread | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called; a long step looks here now and then."""
        return self._stopped

    def wake(self) -> None:
        with self._changed:
            if self._stopped:
                return
            self._wanted = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until no step runs or is due; False when `timeout` seconds were not enough."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopped or not (self._wanted or self._busy), timeout)

    def stop(self) -> None:
        """No further step; returns when the one under way is done. May be called again."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._stopped)
                if self._stopped:
                    return
                self._wanted, self._busy = False, True
            try:
                while not self._stopped and self._step():
                    pass
            except Exception:  # noqa: BLE001 - whatever went wrong, the thread must live on
                # What was not built is still searched, exactly; only speed is lost.
                _log.exception("background work failed")
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()


class GivingWay:
    """One thread for the whole process that runs heavy native calls one at a time, behind every other thread.

    Only the call runs there. Python code on a thread that gives way would hold the interpreter's lock while it waits
    for the processor, and every query with it.
    """

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], object], Future[object]]] = SimpleQueue()
        self._name = name
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def run(self, call: Callable[[], object]) -> None:
        """Run `call`, after those that came before, and wait for it. What it raises is raised here."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
        done: Future[object] = Future()
        self._calls.put((call, done))
        done.result()

    def _serve(self) -> None:
        _give_way()
        while True:
            call, done = self._calls.get()
            try:
                done.set_result(call())
            except BaseException as error:  # noqa: BLE001 - it belongs to the thread that waits
                done.set_exception(error)


def _give_way() -> None:
    # On Linux, niceness is a thread's own, and the threads that hnswlib starts from it inherit it.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
