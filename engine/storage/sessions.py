"""Search sessions between their turns.

::

    create → running → save → open → claim → running → …
                     ↘ fail → failed            (also after a crash while running)
    any of them, unused for the lifetime: expired (410) for 7 days, then gone (404)

The state of a session is opaque here.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import cast

import msgspec

from engine.errors import SessionBusy, SessionExpired, SessionFailed, SessionNotFound
from engine.model.clock import Clock, to_ms, utc_now
from engine.model.session import MAX_SESSIONS, TOMBSTONE, SessionStatus, StoredSession
from engine.storage.catalog_file import CatalogFile

WAITING = 64
"""New sessions that may wait to be written; whoever adds one more writes them."""
_WRITTEN_AT_ONCE, _PURGED_AT_ONCE = 16, 100
"""Sessions a transaction: a state has tens of kilobytes, and all of them together are more than memory may hold."""


class SessionStore:
    """The sessions of all companies. Thread-safe; the only writer of its table, but for a dropped namespace.

    Opening the store marks as failed what a crash left running. `purge` and `flush` are for a thread that nobody waits
    for: no answer waits until its session is on disk, and many are written at once.

    Args:
        lifetime: how long a session is kept after its last use.
    """

    def __init__(self, file: CatalogFile, lifetime: timedelta, clock: Clock = utc_now) -> None:
        self._file = file
        self._lifetime_ms = lifetime // timedelta(milliseconds=1)
        self._clock = clock
        self._lock = threading.Lock()
        self._claimed: set[str] = set()
        self._new: dict[str, tuple[object, ...]] = {}
        self._flushing = threading.Lock()
        with file.read() as cursor:
            row = cursor.execute("SELECT count(*) FROM sessions WHERE status = 'running'").fetchone()
        if row is not None and row[0]:
            with file.write() as cursor:
                cursor.execute("UPDATE sessions SET status = 'failed' WHERE status = 'running'")

    def add(self, company_id: int, namespace_id: int, session_id: str, state: bytes, *, failed: bool = False) -> None:
        """A session whose first turn has ended: open to the next, or failed. Its id was given to nobody before.

        It is on disk after the next `flush`, and known from now on.

        Raises:
            StorageError: `WAITING` others could not be written either.
        """
        now = to_ms(self._clock())
        row = (session_id, company_id, namespace_id, state, _ENDED[failed], now, now, now + self._lifetime_ms)
        with self._lock:
            self._new[session_id] = row
            is_full = len(self._new) > WAITING
        if is_full:
            self.flush()

    def flush(self) -> None:
        """Write down new sessions. Raises `StorageError`; it can be tried again."""
        with self._flushing:
            with self._lock:
                rows = list(self._new.values())
            for first in range(0, len(rows), _WRITTEN_AT_ONCE):
                written = rows[first : first + _WRITTEN_AT_ONCE]
                with self._file.write() as cursor:
                    for row in written:
                        # It may stand there: a write may fail behind its commit.
                        cursor.execute(
                            "INSERT INTO sessions VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
                            list(row),
                        )
                with self._lock:
                    for session_id, *_ in written:
                        del self._new[cast("str", session_id)]

    def load(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        """The session of this company and namespace, whatever its status.

        Raises:
            SessionNotFound: there is none, it is another's, or it expired more than 7 days ago.
            SessionExpired: it was not used for its lifetime.
        """
        with self._lock:
            is_new = session_id in self._new
        if is_new:
            self.flush()
        with self._file.read() as cursor:
            row = cursor.execute(
                "SELECT state, status, expires_at FROM sessions "
                "WHERE id = $1 AND company_id = $2 AND namespace_id = $3",
                [session_id, company_id, namespace_id],
            ).fetchone()
        if row is None:
            raise SessionNotFound
        state, status, expires_at = row
        now = to_ms(self._clock())
        with self._lock:
            is_running = session_id in self._claimed
        if not is_running and now >= expires_at:
            raise SessionNotFound if now >= expires_at + _TOMBSTONE_MS else SessionExpired
        if status == "expired":
            raise SessionExpired
        return StoredSession(
            id=session_id,
            company_id=company_id,
            namespace_id=namespace_id,
            state=state,
            status=cast("SessionStatus", status),
        )

    def claim(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        """Take an open session for one continuation. `save`, `release` or `fail` ends the claim.

        Raises:
            SessionNotFound, SessionExpired: as `load`.
            SessionFailed: an earlier turn failed.
            SessionBusy: another continuation has it.
        """
        self.load(company_id, namespace_id, session_id)
        with self._lock:
            if session_id in self._claimed:
                raise SessionBusy
            self._claimed.add(session_id)
        try:
            # Read again under the claim: the turn before may have ended between the two.
            return self._start_turn(self.load(company_id, namespace_id, session_id))
        except BaseException:
            self._forget_claim(session_id)
            raise

    def save(self, session_id: str, state: bytes) -> None:
        """End a turn: keep its state, open the session to the next, and begin its lifetime anew."""
        try:
            self._write(session_id, "open", state)
        finally:
            self._forget_claim(session_id)

    def release(self, session_id: str) -> None:
        """End a turn that was cancelled: the session is as it was before the claim, its lifetime begun anew."""
        try:
            self._write(session_id, "open")
        finally:
            self._forget_claim(session_id)

    def fail(self, session_id: str) -> None:
        """End a turn that failed: the session cannot be continued."""
        try:
            self._write(session_id, "failed")
        finally:
            self._forget_claim(session_id)

    def purge(self) -> int:
        """Forget sessions 7 days after they expired, and the states of those that have expired; how many are gone.

        In small transactions: turns of other sessions wait for no more than one of them.

        Raises:
            StorageError: what was done stays done; the rest can be tried again.
        """
        now = to_ms(self._clock())
        gone = 0
        while batch := self._ids("expires_at <= $1", [now - _TOMBSTONE_MS]):
            gone += self._delete(batch)
        for company_id, surplus in self._surplus():
            for _ in range(0, surplus, _PURGED_AT_ONCE):
                gone += self._delete(self._ids("company_id = $1", [company_id], most=surplus))
        # Asking for the length of a state would read thousands of them at a time.
        while batch := self._ids("expires_at <= $1 AND status <> 'expired'", [now]):
            self._empty(batch)
        return gone

    def _ids(self, where: str, parameters: list[int], *, most: int = _PURGED_AT_ONCE) -> list[str]:
        """Some of the sessions that nobody continues now, those used least recently first."""
        with self._lock:
            claimed = list(self._claimed)
        with self._file.read() as cursor:
            rows = cursor.execute(
                f"SELECT id FROM sessions WHERE {where} AND NOT list_contains($2::VARCHAR[], id) "  # noqa: S608
                f"ORDER BY used_at LIMIT {min(most, _PURGED_AT_ONCE)}",
                [*parameters, claimed],
            ).fetchall()
        return [session_id for (session_id,) in rows]

    def _surplus(self) -> list[tuple[int, int]]:
        with self._file.read() as cursor:
            counts = cursor.execute("SELECT company_id, count(*) FROM sessions GROUP BY company_id").fetchall()
        return [(company_id, count - MAX_SESSIONS) for company_id, count in counts if count > MAX_SESSIONS]

    def _delete(self, ids: list[str]) -> int:
        with self._file.write() as cursor:
            cursor.execute("DELETE FROM sessions WHERE id IN (SELECT unnest($1::VARCHAR[]))", [ids])
        return len(ids)

    def _empty(self, ids: list[str]) -> None:
        """Let go of the states. An UPDATE would copy the states of all rows beside them into memory."""
        with self._file.write() as cursor:
            rows = cursor.execute(
                "SELECT id, company_id, namespace_id, created_at, used_at, expires_at FROM sessions "
                "WHERE id IN (SELECT unnest($1::VARCHAR[]))",
                [ids],
            ).fetchall()
            cursor.execute("DELETE FROM sessions WHERE id IN (SELECT unnest($1::VARCHAR[]))", [ids])
            for row in rows:
                cursor.execute("INSERT INTO sessions VALUES ($1, $2, $3, ''::BLOB, 'expired', $4, $5, $6)", list(row))

    def _start_turn(self, session: StoredSession) -> StoredSession:
        if session.status == "failed":
            raise SessionFailed
        self._write(session.id, "running")
        return msgspec.structs.replace(session, status="running")

    def _write(self, session_id: str, status: SessionStatus, state: bytes | None = None) -> None:
        now = to_ms(self._clock())
        with self._file.write() as cursor:
            cursor.execute(
                "UPDATE sessions SET status = $2, used_at = $3, expires_at = $4, state = coalesce($5::BLOB, state) "
                "WHERE id = $1",
                [session_id, status, now, now + self._lifetime_ms, state],
            )

    def _forget_claim(self, session_id: str) -> None:
        with self._lock:
            self._claimed.discard(session_id)


_TOMBSTONE_MS = TOMBSTONE // timedelta(milliseconds=1)
_ENDED: dict[bool, SessionStatus] = {False: "open", True: "failed"}
