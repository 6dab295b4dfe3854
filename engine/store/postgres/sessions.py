"""Search sessions in a database, shared by all servers.

A turn is claimed by a lease: the process that runs it is the session's owner and renews the lease while it lives. When
the process dies, its sessions are failed once the lease has ended, and nobody else's are touched.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any, cast

from engine.errors import SessionBusy, SessionExpired, SessionFailed, SessionNotFound
from engine.model.session import MAX_SESSIONS, TOMBSTONE, SessionStatus, StoredSession
from engine.store.postgres.clock import NOW_MS
from engine.store.postgres.connection import Connection, Pool

LEASE = timedelta(seconds=60)
RENEW_S = 15.0
"""A lease outlives three renewals that fail."""
_PURGED_AT_ONCE = 1_000


class PostgresSessions:
    """Implements `engine.store.protocol.Sessions`.

    Args:
        lifetime: how long a session is kept after its last use.
        lease: how long a turn is believed to run after its process was last heard of.
    """

    def __init__(self, pool: Pool, lifetime: timedelta, lease: timedelta = LEASE) -> None:
        self._pool = pool
        self._lifetime_ms = lifetime // timedelta(milliseconds=1)
        self._lease_ms = lease // timedelta(milliseconds=1)
        self._owner = secrets.token_hex(8)

    def add(self, company_id: int, namespace_id: int, session_id: str, state: bytes, *, failed: bool = False) -> None:
        status = "failed" if failed else "open"
        self._written(
            "INSERT INTO quarry.sessions (id, company, namespace, status, state, created_at, used_at, expires_at) "
            f"SELECT %s, %s, %s, %s, %s, now_ms, now_ms, now_ms + %s FROM (SELECT {NOW_MS} AS now_ms) AS clock",
            [session_id, company_id, namespace_id, status, state, self._lifetime_ms],
        )

    def load(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        return self._pool.read(lambda connection: _read(connection, company_id, namespace_id, session_id))

    def claim(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        def work(connection: Connection) -> StoredSession:
            found = _read(connection, company_id, namespace_id, session_id, hold=True)
            if found.status == "running":
                raise SessionBusy
            if found.status == "failed":
                raise SessionFailed
            connection.execute(
                (
                    f"UPDATE quarry.sessions SET status = 'running', owner = %s, lease_until = {NOW_MS} + %s, "
                    f"used_at = {NOW_MS}, expires_at = {NOW_MS} + %s WHERE id = %s"
                ).encode(),
                [self._owner, self._lease_ms, self._lifetime_ms, session_id],
            )
            return StoredSession(
                id=session_id,
                company_id=company_id,
                namespace_id=namespace_id,
                state=found.state,
                status="running",
            )

        return self._pool.written(work)

    def save(self, session_id: str, state: bytes) -> None:
        self._end(session_id, "open", state)

    def release(self, session_id: str) -> None:
        self._end(session_id, "open", None)

    def fail(self, session_id: str) -> None:
        self._end(session_id, "failed", None)

    def renew(self) -> int:
        """Say that the turns of this process still run; how many there are."""
        return self._written(
            f"UPDATE quarry.sessions SET lease_until = {NOW_MS} + %s WHERE owner = %s AND status = 'running'",
            [self._lease_ms, self._owner],
        )

    def purge(self) -> int:
        self._written(
            f"UPDATE quarry.sessions SET status = 'failed', owner = NULL "
            f"WHERE status = 'running' AND lease_until < {NOW_MS}",
            [],
        )
        gone = 0
        tombstone = TOMBSTONE // timedelta(milliseconds=1)
        for where, parameters in (
            (f"expires_at <= {NOW_MS} - %s AND status <> 'running' LIMIT {_PURGED_AT_ONCE}", [tombstone]),
            (_SURPLUS, [MAX_SESSIONS]),
        ):
            statement = f"DELETE FROM quarry.sessions WHERE id IN (SELECT id FROM quarry.sessions WHERE {where})"
            while count := self._written(statement, parameters):
                gone += count
        statement = (
            "UPDATE quarry.sessions SET status = 'expired', state = '' WHERE id IN (SELECT id FROM quarry.sessions "
            f"WHERE expires_at <= {NOW_MS} AND status IN ('open', 'failed') LIMIT {_PURGED_AT_ONCE})"
        )
        while self._written(statement, []):
            pass
        return gone

    def _end(self, session_id: str, status: SessionStatus, state: bytes | None) -> None:
        """End this process's turn. Raises `SessionFailed` when its lease had ended, and the session was given up."""

        def work(connection: Connection) -> bool:
            ended = connection.execute(
                (
                    f"UPDATE quarry.sessions SET status = %s, owner = NULL, used_at = {NOW_MS}, "
                    f"expires_at = {NOW_MS} + %s, state = coalesce(%s, state) "
                    "WHERE id = %s AND owner = %s AND status = 'running'"
                ).encode(),
                [status, self._lifetime_ms, state, session_id, self._owner],
            )
            if ended.rowcount:
                return True
            # Gone with its namespace is no fault of the turn.
            held = connection.execute("SELECT 1 FROM quarry.sessions WHERE id = %s", [session_id]).fetchone()
            return held is None

        if not self._pool.written(work):
            raise SessionFailed

    def _written(self, statement: str, parameters: list[Any]) -> int:
        return self._pool.written(lambda connection: connection.execute(statement.encode(), parameters).rowcount)


_SURPLUS = (
    "status <> 'running' AND id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY company "
    f"ORDER BY used_at DESC) AS place FROM quarry.sessions) AS ranked WHERE place > %s) LIMIT {_PURGED_AT_ONCE}"
)


def _read(
    connection: Connection, company_id: int, namespace_id: int, session_id: str, *, hold: bool = False
) -> StoredSession:
    row = connection.execute(
        (
            f"SELECT state, status, coalesce(lease_until, 0), expires_at, {NOW_MS} FROM quarry.sessions "
            f"WHERE id = %s AND company = %s AND namespace = %s {'FOR UPDATE' if hold else ''}"
        ).encode(),
        [session_id.replace("\x00", "\ufffd"), company_id, namespace_id],
    ).fetchone()
    if row is None:
        raise SessionNotFound
    state, status, lease_until, expires_at, now = row
    if status == "running" and lease_until < now:
        # Its process is dead; `purge` writes it down.
        status = "failed"
    if status != "running" and now >= expires_at:
        raise SessionNotFound if now >= expires_at + TOMBSTONE // timedelta(milliseconds=1) else SessionExpired
    if status == "expired":
        raise SessionExpired
    return StoredSession(
        id=session_id,
        company_id=company_id,
        namespace_id=namespace_id,
        state=bytes(state),
        status=cast("SessionStatus", status),
    )
