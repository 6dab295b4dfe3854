"""Checkpoints in quiet moments: what a namespace's log holds is in memory too, and replayed after a crash."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

from engine.backend.embedded.store import NamespaceStore
from engine.errors import QuarryError
from engine.storage.files import require_free_space

_log = logging.getLogger(__name__)

QUIET_S = 2.0
"""Seconds without a write: by then the pages that a large commit used are given back."""
WORTHWHILE_LOG = 2**20
"""Bytes of log that are worth a checkpoint."""
_PATIENCE_S = 60.0


def tidy(store: NamespaceStore) -> bool:
    """Empty the log of `store`, if that is worth it; False where a read under way needs it still.

    Nothing is done beside a write: it will ask again when it ends.

    Raises:
        StorageFull: too little free space: a checkpoint that fills the disk would stop reads too.
        StorageError: the checkpoint failed; if the database broke, the next use of the namespace opens it anew.
    """
    if not store.write_lock.acquire(blocking=False):
        return True
    try:
        log = store.database.log_bytes
        if log < WORTHWHILE_LOG or store.database.is_broken:
            return True
        require_free_space(store.folder, 3 * log)
        return store.database.checkpoint()
    finally:
        store.write_lock.release()


class Housekeeping:
    """Calls `tidy` with a namespace that was written to, once it has been left alone for a while; again on False.

    One thread for all namespaces, which starts with the first write.
    """

    def __init__(self, tidy: Callable[[int], bool], *, quiet_s: float = QUIET_S) -> None:
        self._tidy = tidy
        self._quiet_s = quiet_s
        self._due: dict[int, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def written(self, namespace: int) -> None:
        """A write to `namespace` has ended. Never raises: the write stands."""
        with self._changed:
            if self._stopped:
                return
            # Last in the dictionary, so that the first is always the one that is due first.
            self._due.pop(namespace, None)
            self._due[namespace] = time.monotonic() + self._quiet_s
            if self._thread is None:
                self._start()
            elif len(self._due) == 1:
                self._changed.notify()

    def stop(self) -> None:
        """Tidy no more; returns when the tidying under way is done."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(_PATIENCE_S)
            atexit.unregister(self.stop)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="quarry-housekeeping", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            _log.warning("No thread could be started; logs stay long until the next write")
            return
        self._thread = thread
        # A process that ends without closing the engine must not end in the middle of a checkpoint: it would abort.
        atexit.register(self.stop)

    def _run(self) -> None:
        while (namespace := self._next()) is not None:
            try:
                done = self._tidy(namespace)
            except QuarryError as error:
                _log.warning("The log of namespace %d stays as long as it is: %s", namespace, error.message)
            except Exception:  # noqa: BLE001 - nothing was asked for, so nobody waits for the error
                _log.warning("Namespace %d could not be tidied", namespace, exc_info=True)
            else:
                if not done:
                    self.written(namespace)

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
