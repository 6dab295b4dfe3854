"""Stopping the statements of one search, from another thread or at a deadline.

Whoever starts a search makes an `Interruption` and runs its blocking calls through `Interruption.run`; every cursor
that those calls borrow is then stopped by `fire`. The write path never looks at it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, Protocol, TypeVar

from engine.errors import SearchTimeout

P = ParamSpec("P")
R = TypeVar("R")

_PAUSE_S = 0.02
_current: ContextVar[Interruption | None] = ContextVar("interruption", default=None)


class Interruptible(Protocol):
    """Runs statements that another thread can stop."""

    def interrupt(self) -> None: ...


class Interruption:
    """The switch of one search. Thread-safe; a context manager that puts its timer away.

    Args:
        deadline_s: seconds from now until it fires by itself; None leaves that to `fire`. The timer is a thread, and
            starts with the first statement: what is remembered asks for none.
    """

    def __init__(self, deadline_s: float | None = None) -> None:
        self._lock = threading.Lock()
        self._watched: list[Interruptible] = []
        self._fired = False
        self._timer: threading.Timer | None = None
        self._deadline = None if deadline_s is None else time.monotonic() + deadline_s

    def __enter__(self) -> Interruption:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def run(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """``call(*args, **kwargs)`` with every read of a database under this switch.

        For a worker thread: ``await asyncio.to_thread(interruption.run, retrieve, plan)``.

        Raises:
            SearchTimeout: it fired, before or while `call` ran a statement.
        """
        token = _current.set(self)
        try:
            return call(*args, **kwargs)
        finally:
            _current.reset(token)

    def fire(self) -> None:
        """Stop all statements under this switch, and those that would begin. Returns at once."""
        with self._lock:
            self._fired = True
            if not self._interrupt():
                return
        # An interrupt does not stick to a cursor between two statements, so it is repeated.
        threading.Thread(target=self._insist, name="quarry-interrupt", daemon=True).start()

    @contextmanager
    def watching(self, cursor: Interruptible) -> Generator[None]:
        """Put `cursor` under this switch for the block.

        Raises:
            SearchTimeout: it has fired already.
        """
        with self._lock:
            self._fired = self._fired or not self._begin()
            if self._fired:
                raise SearchTimeout("The search was stopped.")
            self._watched.append(cursor)
        try:
            yield
        finally:
            # Under the lock, so that no interrupt can reach the cursor's next user.
            with self._lock:
                self._watched.remove(cursor)

    def _begin(self) -> bool:
        """Start the timer, if there is a deadline; False where it has passed. The caller holds the lock."""
        if self._deadline is None or self._timer is not None:
            return True
        left = self._deadline - time.monotonic()
        if left <= 0:
            return False
        self._timer = threading.Timer(left, self.fire)
        self._timer.name = "quarry-deadline"
        self._timer.daemon = True
        self._timer.start()
        return True

    def _insist(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(_PAUSE_S)
            with self._lock:
                if not self._interrupt():
                    return

    def _interrupt(self) -> bool:
        for cursor in self._watched:
            cursor.interrupt()
        return bool(self._watched)


@contextmanager
def watched(cursor: Interruptible) -> Generator[None]:
    """Put `cursor` under the switch of the search that this thread works for, if there is one."""
    current = _current.get()
    if current is None:
        yield
    else:
        with current.watching(cursor):
            yield


@contextmanager
def unwatched() -> Generator[None]:
    """Let what the block reads go on when the search that began it is stopped: others need it too."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
