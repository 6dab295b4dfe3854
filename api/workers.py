"""Several server processes on one address and one database: a parent that binds, starts, watches and ends them."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

_log = logging.getLogger("quarry.server")

QUICK_S = 10.0
"""A worker that ends sooner than this after its start is not started again before a pause."""
PAUSE_S = 2.0


def run_workers(count: int, sockets: Sequence[socket.socket], run: Callable[[bool], int]) -> int:
    """Run `count` processes that share `sockets`, until SIGINT or SIGTERM; one that dies is started again.

    Call it before any thread is started: the processes are forks.

    Args:
        run: serves in a worker until it is told to stop, and gives its exit code; told whether it is the first one.

    Returns:
        Exit code: 0 after an orderly end; that of a worker that could not begin.
    """
    parent = _Parent(count, sockets, run)
    return parent.watch()


class _Parent:
    def __init__(self, count: int, sockets: Sequence[socket.socket], run: Callable[[bool], int]) -> None:
        self._run = run
        self._sockets = sockets
        self._stopping = False
        self._began: dict[int, float] = {}
        self._code = 0
        for wanted in (signal.SIGINT, signal.SIGTERM):
            signal.signal(wanted, self._stop)
        for number in range(count):
            self._start(is_first=number == 0)

    def watch(self) -> int:
        """Until every worker has ended."""
        while self._began:
            try:
                pid, status = os.wait()
            except InterruptedError:
                continue
            except ChildProcessError:
                break
            began = self._began.pop(pid, None)
            if began is None or self._stopping:
                continue
            code = os.waitstatus_to_exitcode(status)
            lived_s = time.monotonic() - began
            if code > 0 and lived_s < QUICK_S and not self._code:
                # It has said why on its own; the next one would fail alike.
                self._code = code
                self._stop()
                continue
            _log.warning("a worker ended and is started again", extra={"pid": pid, "code": code})
            if lived_s < QUICK_S:
                time.sleep(PAUSE_S)
            self._start(is_first=False)
        return self._code

    def _start(self, *, is_first: bool) -> None:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                code = self._run(is_first)
            except KeyboardInterrupt:
                code = 0
            finally:
                # Nothing of the parent's is run a second time.
                os._exit(code)
        self._began[pid] = time.monotonic()

    def _stop(self, *_: object) -> None:
        self._stopping = True
        for pid in self._began:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
