"""Checkpoints in quiet moments: what a namespace's log holds is in memory too, and replayed after a crash."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from engine.backend.embedded.store import NamespaceStore
from engine.storage.files import require_free_space

_log = logging.getLogger(__name__)

QUIET_S = 2.0
"""Seconds without a write. The pages that a large commit used are given back by then, before a checkpoint needs its."""
WORTHWHILE_LOG = 2**20
"""Bytes of log that are worth a checkpoint."""


def tidy(store: NamespaceStore) -> None:
    """Empty the log of `store`, if that is worth it.

    Raises:
        StorageFull: too little free space: a checkpoint that fills the disk would stop reads too.
        StorageError: the checkpoint failed; the next use of the namespace opens it anew.
    """
    with store.write_lock:
        log = store.database.log_bytes
        if log >= WORTHWHILE_LOG and not store.database.is_broken:
            require_free_space(store.folder, 3 * log)
            store.database.checkpoint()


class Housekeeping:
    """Calls `tidy` with a namespace that was written to, once it has been left alone for a while.

    One thread for all namespaces, which starts with the first write.
    """

    def __init__(self, tidy: Callable[[int], None], *, quiet_s: float = QUIET_S) -> None:
        self._tidy = tidy
        self._quiet_s = quiet_s
        self._due: dict[int, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def written(self, namespace: int) -> None:
        """A write to `namespace` has ended."""
        with self._changed:
            if self._stopped:
                return
            # Last in the dictionary, so that the first is always the one that is due first.
            self._due.pop(namespace, None)
            self._due[namespace] = time.monotonic() + self._quiet_s
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="quarry-housekeeping", daemon=True)
                self._thread.start()
            elif len(self._due) == 1:
                self._changed.notify()

    def stop(self) -> None:
        """Tidy no more; returns when the tidying under way is done."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (namespace := self._next()) is not None:
            try:
                self._tidy(namespace)
            except Exception:  # noqa: BLE001 - nothing was asked for, so nobody waits for the error
                _log.warning("A namespace could not be tidied", exc_info=True)

    def _next(self) -> int | None:
        """Wait for a namespace that is due; None at the end."""
        with self._changed:
            while not self._stopped:
                first = next(iter(self._due), None)
                left = None if first is None else self._due[first] - time.monotonic()
                if first is not None and left is not None and left <= 0:
                    del self._due[first]
                    return first
                self._changed.wait(left)
            return None
