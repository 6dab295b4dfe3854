"""Work on the store that nobody waits for, in a thread of its own."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.errors import QuarryError

_log = logging.getLogger(__name__)

_PATIENCE_S = 60.0


class Task(NamedTuple):
    """Something to do now and then.

    Attributes:
        every_s: seconds from one end to the next begin; the first run comes after as long.
        run: may raise; the next run comes all the same.
        at_start: it also runs once at the begin.
    """

    name: str
    every_s: float
    run: Callable[[], object]
    at_start: bool = False


class Upkeep:
    """Runs `tasks` until `stop`. A task that fails is logged and blocks nothing."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._stopping = threading.Event()
        self._due = {task: time.monotonic() + (0.0 if task.at_start else task.every_s) for task in tasks}
        self._thread = threading.Thread(target=self._run, name="quarry-upkeep", daemon=True)
        self._thread.start()
        # A process that ends without closing the engine must not end in the middle of a statement: it would abort.
        atexit.register(self.stop)

    def stop(self) -> None:
        """Begin no task any more; returns when the one under way is done."""
        self._stopping.set()
        self._thread.join(_PATIENCE_S)
        atexit.unregister(self.stop)

    def _run(self) -> None:
        while True:
            task = min(self._due, key=self._due.__getitem__)
            if self._stopping.wait(max(0.0, self._due[task] - time.monotonic())):
                return
            try:
                task.run()
            except QuarryError as error:
                _log.warning("The upkeep of %s failed and will be tried again: %s", task.name, error.message)
            except Exception:  # noqa: BLE001 - nobody waits for it
                _log.warning("The upkeep of %s failed and will be tried again", task.name, exc_info=True)
            self._due[task] = time.monotonic() + task.every_s
