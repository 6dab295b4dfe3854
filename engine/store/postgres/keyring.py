"""API keys in a database. Each check is one statement by the digest, so a revocation holds everywhere at once.

A copy in memory would need to know whether it is still true: a number read with each request costs the statement that
it saves, and a notification that was lost in a failover would leave a revoked key alive.
"""

from __future__ import annotations

import hmac
import threading

from engine.errors import ApiKeyNotFound
from engine.model.clock import Clock, utc_now
from engine.model.keys import digest_of, key_of_row, root_key, stored_values
from engine.model.namespace import ApiKey, Company
from engine.store.postgres.clock import NOW_MS
from engine.store.postgres.connection import Connection, Pool

_COLUMNS = (
    "k.id, k.company, c.name, k.name, k.prefix, k.suffix, k.scopes, k.created_at, k.created_by, k.last_used_at, "
    "k.expires_at"
)
_FROM = "FROM quarry.api_keys k JOIN quarry.companies c ON c.id = k.company"

_BY_DIGEST = (
    f"SELECT k.digest, coalesce(k.expires_at <= {NOW_MS}, false), {NOW_MS}, {_COLUMNS} {_FROM} WHERE k.digest = %s"
)


class PostgresKeyring:
    """Implements `engine.store.protocol.Keyring`. When keys were last used is written down by `flush`."""

    def __init__(self, pool: Pool, clock: Clock = utc_now) -> None:
        self._pool = pool
        self._clock = clock
        self._lock = threading.Lock()
        self._roots: dict[str, ApiKey] = {}
        self._used_ms: dict[str, int] = {}

    @property
    def is_used(self) -> bool:
        with self._pool.reading() as connection:
            row = connection.execute("SELECT EXISTS (SELECT 1 FROM quarry.api_keys)").fetchone()
        return bool(row and row[0])

    def verify(self, raw: str) -> ApiKey | None:
        digest = digest_of(raw)
        with self._lock:
            root = self._roots.get(digest)
        if root is not None:
            return root
        row = self._pool.read(lambda connection: connection.execute(_BY_DIGEST.encode(), [digest]).fetchone())
        if row is None or row[1] or not hmac.compare_digest(digest, row[0]):
            return None
        key = key_of_row(row[3:])
        with self._lock:
            self._used_ms[key.id] = row[2]
        return key

    def register_root(self, raw: str, company: Company, name: str = "root") -> ApiKey:
        key = root_key(raw, company, name, self._clock())
        with self._lock:
            self._roots[digest_of(raw)] = key
        return key

    def stored(self, company_id: int) -> list[tuple[ApiKey, str]]:
        self.flush()
        with self._pool.reading() as connection:
            rows = connection.execute(
                f"SELECT k.digest, {_COLUMNS} {_FROM} WHERE k.company = %s ORDER BY k.created_at, k.id".encode(),
                [company_id],
            ).fetchall()
        return [(key_of_row(row[1:]), row[0]) for row in rows]

    def add(self, key: ApiKey, digest: str) -> None:
        self._pool.written(
            lambda connection: connection.execute(
                "INSERT INTO quarry.api_keys VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
                "ON CONFLICT (id) DO NOTHING",
                stored_values(key, digest),
            )
        )

    def of_company(self, company_id: int) -> list[ApiKey]:
        self.flush()
        with self._pool.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} {_FROM} WHERE k.company = %s ORDER BY k.created_at, k.id".encode(),
                [company_id],
            ).fetchall()
        return [key_of_row(row) for row in rows]

    def revoke(self, company_id: int, key_id: str) -> None:
        def work(connection: Connection) -> int:
            return connection.execute(
                "DELETE FROM quarry.api_keys WHERE id = %s AND company = %s",
                [key_id.replace("\x00", "\ufffd"), company_id],
            ).rowcount

        if not self._pool.written(work):
            raise ApiKeyNotFound

    def flush(self) -> None:
        """Write down when keys were last used. Raises `StorageError`; it can be tried again."""
        with self._lock:
            used, self._used_ms = self._used_ms, {}
        if not used:
            return
        try:
            self._pool.written(
                lambda connection: connection.execute(
                    "UPDATE quarry.api_keys k SET last_used_at = greatest(k.last_used_at, used.at) "
                    "FROM unnest(%s::text[], %s::int8[]) AS used (id, at) WHERE k.id = used.id",
                    [list(used), list(used.values())],
                )
            )
        except BaseException:
            with self._lock:
                self._used_ms = used | self._used_ms
            raise
