"""Open namespaces: opened on use, closed by least recent use."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager

from engine.backend.embedded.store import NamespaceStore
from engine.errors import EngineClosed

_log = logging.getLogger(__name__)


class StorePool:
    """Keeps up to `capacity` namespaces open; one in use is never closed.

    Args:
        open_store: opens a namespace by its id.
        retire: called before a store is closed, to save what makes the next open quick.
    """

    def __init__(
        self,
        capacity: int,
        open_store: Callable[[int], NamespaceStore],
        retire: Callable[[NamespaceStore], None],
    ) -> None:
        self._capacity = capacity
        self._open_store = open_store
        self._retire = retire
        self._stores: OrderedDict[int, NamespaceStore] = OrderedDict()
        self._users: dict[int, int] = {}
        self._opening: dict[int, threading.Lock] = {}
        self._lock = threading.Condition()
        self._held = threading.local()
        self._closed = False

    def __len__(self) -> int:
        return len(self._stores)

    @contextmanager
    def use(self, namespace: int) -> Generator[NamespaceStore]:
        """The open store; it stays open at least until the block ends. A thread may use one again within its use."""
        held: list[int] = self._held.__dict__.setdefault("namespaces", [])
        # Within a use: `replace` may hold the gate already, and wait for that use to end.
        store = self._take_again(namespace) if namespace in held else self._take(namespace)
        held.append(namespace)
        try:
            yield store
        finally:
            held.remove(namespace)
            self._leave(namespace)

    @contextmanager
    def use_if_open(self, namespace: int) -> Generator[NamespaceStore | None]:
        """As `use`, but opens nothing and does not count as a use for what is closed next."""
        with self._lock:
            store = self._stores.get(namespace)
            if store is not None:
                self._users[namespace] = self._users.get(namespace, 0) + 1
        try:
            yield store
        finally:
            if store is not None:
                self._leave(namespace)

    def replace(self, namespace: int, change: Callable[[], None]) -> None:
        """Close a namespace once nobody uses it and run `change` on its files; later uses wait, then open it again.

        Uses of other namespaces do not wait.
        """
        with self._gate(namespace):
            with self._lock:
                self._lock.wait_for(lambda: self._users.get(namespace, 0) == 0)
                store = self._stores.pop(namespace, None)
                self._users.pop(namespace, None)
            if store is not None:
                self._shut(store, retire=False)
            change()

    def close(self) -> None:
        """Close every namespace; waits for those in use."""
        with self._lock:
            self._closed = True
            self._lock.wait_for(lambda: not any(self._users.values()), timeout=60)
            while self._stores:
                self._shut(self._stores.popitem()[1], retire=True)

    def _take_again(self, namespace: int) -> NamespaceStore:
        with self._lock:
            store = self._stores[namespace]
            self._users[namespace] += 1
            return store

    def _leave(self, namespace: int) -> None:
        with self._lock:
            self._users[namespace] -= 1
            self._lock.notify_all()

    def _gate(self, namespace: int) -> threading.Lock:
        """Who has it opens or closes the namespace."""
        with self._lock:
            return self._opening.setdefault(namespace, threading.Lock())

    def _take(self, namespace: int) -> NamespaceStore:
        with self._gate(namespace):
            with self._lock:
                if self._closed:
                    raise EngineClosed
                store = self._stores.get(namespace)
                if store is not None and not store.database.is_broken:
                    self._stores.move_to_end(namespace)
                    self._users[namespace] = self._users.get(namespace, 0) + 1
                    return store
                if store is not None:
                    # A full disk in a checkpoint invalidates the instance; a new one reads what was committed.
                    self._lock.wait_for(lambda: self._users.get(namespace, 0) == 0, timeout=10)
                    del self._stores[namespace]
            if store is not None:
                self._shut(store, retire=False)
            store = self._open_store(namespace)
            with self._lock:
                if not self._closed:
                    self._stores[namespace] = store
                    self._users[namespace] = self._users.get(namespace, 0) + 1
            if self._closed:
                store.close()
                raise EngineClosed
        self._evict()
        return store

    def _evict(self) -> None:
        """Close what is beyond the capacity. Saving takes a while: only uses of that namespace wait for it."""
        while (spare := self._take_spare()) is not None:
            store, gate = spare
            try:
                self._shut(store, retire=True)
            finally:
                gate.release()

    def _take_spare(self) -> tuple[NamespaceStore, threading.Lock] | None:
        """The least recently used store that nobody uses, taken out, with its gate held; None within the capacity."""
        with self._lock:
            if len(self._stores) <= self._capacity:
                return None
            for namespace in self._stores:
                gate = self._opening[namespace]
                if self._users.get(namespace, 0) == 0 and gate.acquire(blocking=False):
                    self._users.pop(namespace, None)
                    return self._stores.pop(namespace), gate
            return None

    def _shut(self, store: NamespaceStore, *, retire: bool) -> None:
        if retire and not store.database.is_broken:
            try:
                self._retire(store)
            except Exception:  # noqa: BLE001 - whoever closes it is another namespace's user; only the next open is slower
                _log.warning("A namespace could not be saved before it was closed", exc_info=True)
        store.close()
