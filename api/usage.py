"""What companies have asked and written, for as long as the operator keeps it: who used what, when, how long it took.

The only user of SQLite. Events are not the truth: what cannot be written is given up, and nothing waits for it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import engine

FILE = "usage.sqlite"
MOST_EVENTS = 10_000
"""Events of one company; older ones go."""

FLUSH_SECONDS = 1.0
PRUNE_EVERY = 60
"""Flushes between two looks for events that are too old or too many."""

_WAITING = 10_000
_COLUMNS = "id, request_id, event_type, at_ms, namespace, duration_ms, objective, context, results"
_TABLE = """
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, company INTEGER NOT NULL, request_id TEXT NOT NULL, event_type TEXT NOT NULL,
    at_ms INTEGER NOT NULL, namespace TEXT NOT NULL, duration_ms REAL NOT NULL,
    objective TEXT, context TEXT, results INTEGER
);
CREATE INDEX IF NOT EXISTS events_of_company ON events (company, id);
CREATE INDEX IF NOT EXISTS events_by_request ON events (request_id);
"""
_log = logging.getLogger("quarry.usage")


@dataclass(slots=True)
class UsageNote:
    """What a route says of a request, before it is known how that ends.

    Attributes:
        objective: of a search, and `context`; None for every other request.
        results: findings of a search.
    """

    event_type: str
    namespace: str
    objective: str | None = None
    context: str | None = None
    results: int = 0


class UsageEvent(NamedTuple):
    """A request that succeeded. `id` is larger for later ones and 0 before it is stored."""

    id: int
    request_id: str
    event_type: str
    at_ms: int
    namespace: str
    duration_ms: float
    objective: str | None
    context: str | None
    results: int


class UsageLog:
    """The events of all companies, newest first. Thread-safe; `add` never waits and never fails.

    Args:
        days: how long events are kept; 0 keeps none and makes no file.
    """

    def __init__(self, days: int, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._days = days
        self._now = now
        self._waiting: deque[tuple[int, UsageEvent]] = deque(maxlen=_WAITING)
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="quarry-usage", daemon=True)

    def open(self, directory: Path) -> None:
        """Begin to write events into the data directory."""
        if not self._days:
            return
        path = directory / FILE
        try:
            path.touch(mode=0o600)
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + _TABLE)
        except (OSError, sqlite3.Error) as error:
            _log.warning("usage is not recorded: %s", type(error).__name__)
            self._shut()
            return
        self._thread.start()

    def add(self, company: int, note: UsageNote, request_id: str, seconds: float) -> None:
        """Remember a request; written down about a second later."""
        if self._database is None:
            return
        at_ms = int(self._now().timestamp() * 1_000)
        known = (note.event_type, at_ms, note.namespace, round(seconds * 1_000, 2), note.objective, note.context)
        self._waiting.append((company, UsageEvent(0, request_id, *known, note.results)))

    def page(self, company: int, limit: int, before: int | None) -> list[UsageEvent]:
        """At most `limit` events of the company with ids below `before`, newest first."""
        where = "company = ? AND id < ? ORDER BY id DESC LIMIT ?"
        return self._read(where, [company, 2**62 if before is None else before, limit])

    def find(self, company: int, request_id: str) -> UsageEvent | None:
        """The company's latest event of that request; None when there is none."""
        found = self._read("company = ? AND request_id = ? ORDER BY id DESC LIMIT 1", [company, request_id])
        return found[0] if found else None

    def close(self) -> None:
        """Write down what waits."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(engine.StorageError):
            self._flush()
        self._shut()

    def _read(self, where: str, params: list[Any]) -> list[UsageEvent]:
        if self._database is None:
            return []
        self._flush()
        with self._using() as database:
            rows = database.execute(f"SELECT {_COLUMNS} FROM events WHERE {where}", params)  # noqa: S608 - SQL of ours
            return [UsageEvent(*row) for row in rows]

    def _run(self) -> None:
        flushed = 0
        while not self._stop.wait(FLUSH_SECONDS):
            try:
                if flushed % PRUNE_EVERY == 0:
                    self.prune()
                else:
                    self._flush()
            except engine.StorageError as error:
                _log.warning("usage was not recorded: %s", error.__cause__)
            flushed += 1

    def _flush(self) -> None:
        if not self._waiting:
            return
        with self._using() as database:
            rows: list[tuple[Any, ...]] = []
            while self._waiting:
                company, event = self._waiting.popleft()
                rows.append((company, *event[1:]))
            database.execute("BEGIN")
            database.executemany("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            database.execute("COMMIT")

    def prune(self) -> None:
        """Drop what is too old, and of each company what is beyond `MOST_EVENTS`."""
        self._flush()
        oldest = int((self._now() - timedelta(days=self._days)).timestamp() * 1_000)
        with self._using() as database:
            database.execute("DELETE FROM events WHERE at_ms < ?", [oldest])
            for (company,) in database.execute("SELECT DISTINCT company FROM events").fetchall():
                database.execute(
                    "DELETE FROM events WHERE company = ?1 AND id <= "
                    "(SELECT id FROM events WHERE company = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                    [company, MOST_EVENTS],
                )

    @contextmanager
    def _using(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            if self._database is None:
                raise engine.StorageError("The record of usage is closed.")
            try:
                yield self._database
            except sqlite3.Error as error:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise engine.StorageError("The record of usage cannot be used.") from error

    def _shut(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None
