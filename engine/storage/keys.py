"""The API keys of one data directory, held in memory."""

from __future__ import annotations

import hmac
from typing import NamedTuple

import msgspec

from engine.errors import ApiKeyNotFound
from engine.model.clock import Clock, from_ms, to_ms, utc_now
from engine.model.keys import digest_of, key_of_row, root_key, stored_values
from engine.model.namespace import ApiKey, Company
from engine.storage.catalog_file import CatalogFile
from engine.storage.mirror import Mirror


class _Held(NamedTuple):
    digest: str
    key: ApiKey


_NOBODY = _Held(
    "0" * 64,
    ApiKey(
        id="",
        name="",
        company_id=0,
        company_name="",
        prefix="",
        suffix="",
        scopes=(),
        created_at=from_ms(0),
        expires_at=from_ms(0),
    ),
)


class Keyring(Mirror[dict[str, _Held]]):
    """The keys of all companies, held in memory by digest. Thread-safe; the only writer of its table."""

    def __init__(self, file: CatalogFile, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._by_digest: dict[str, _Held] = {}
        self._roots: dict[str, _Held] = {}
        self._used_ms: dict[str, int] = {}
        super().__init__(file)

    @property
    def is_used(self) -> bool:
        """Whether there is any key that was stored."""
        with self._lock:
            return bool(self._by_digest)

    def verify(self, raw: str) -> ApiKey | None:
        """The key, when it exists and has not expired; None for every other text, in the same time.

        Costs about 5 µs and no I/O. Moves `last_used_at` in memory; `flush` writes it down.
        """
        digest = digest_of(raw)
        now = self._clock()
        with self._lock:
            # The table is found by digest, of which a caller cannot choose even a prefix; the digest is compared in
            # full all the same, and so is a time of expiry, against a stand-in when there is none.
            held = self._roots.get(digest) or self._by_digest.get(digest) or _NOBODY
            key = held.key
            is_same = hmac.compare_digest(digest, held.digest)
            has_expired = key.expires_at is not None and key.expires_at <= now
            if has_expired or not is_same:
                return None
            if digest not in self._roots:
                self._used_ms[key.id] = to_ms(now)
        return key

    def register_root(self, raw: str, company: Company, name: str = "root") -> ApiKey:
        """Accept `raw`, which the operator has set, as an admin key of `company` until the process ends.

        Raises:
            InvalidRequest: it is shorter than 8 characters, or holds white space or other than ASCII.
        """
        key = root_key(raw, company, name, self._clock())
        with self._lock:
            self._roots[digest_of(raw)] = _Held(digest_of(raw), key)
        return key

    def stored(self, company_id: int) -> list[tuple[ApiKey, str]]:
        """The company's keys, each with the digest of its raw form."""
        with self._lock:
            digests = {held.key.id: held.digest for held in self._by_digest.values()}
        return [(key, digests[key.id]) for key in self.of_company(company_id) if key.id in digests]

    def add(self, key: ApiKey, digest: str) -> None:
        """Keep a key under the digest of its raw form; one that is there already stays as it is."""
        with self._changing():
            if digest in self._by_digest:
                return
            with self._writing() as cursor:
                cursor.execute(
                    "INSERT INTO api_keys VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                    stored_values(key, digest),
                )
            with self._lock:
                self._by_digest[digest] = _Held(digest, key)

    def of_company(self, company_id: int) -> list[ApiKey]:
        """See `KeyStore.list`."""
        with self._lock:
            keys = [held.key for held in self._by_digest.values() if held.key.company_id == company_id]
            keys = [_used(key, self._used_ms[key.id]) if key.id in self._used_ms else key for key in keys]
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    def revoke(self, company_id: int, key_id: str) -> None:
        """See `KeyStore.revoke`."""
        with self._changing():
            for held in self._by_digest.values():
                if held.key.id == key_id and held.key.company_id == company_id:
                    break
            else:
                raise ApiKeyNotFound
            with self._writing() as cursor:
                cursor.execute("DELETE FROM api_keys WHERE id = $1", [key_id])
            with self._lock:
                self._by_digest.pop(held.digest, None)
                self._used_ms.pop(key_id, None)

    def flush(self) -> None:
        """Write down when keys were last used. Raises `StorageError`; it can be tried again."""
        with self._changing():
            with self._lock:
                used = dict(self._used_ms)
            if not used:
                return
            with self._writing() as cursor:
                cursor.execute(
                    "UPDATE api_keys SET last_used_at = used.at "
                    "FROM (SELECT unnest($1::VARCHAR[]) AS id, unnest($2::BIGINT[]) AS at) used "
                    "WHERE api_keys.id = used.id",
                    [list(used), list(used.values())],
                )
            with self._lock:
                for digest, held in self._by_digest.items():
                    if held.key.id in used:
                        self._by_digest[digest] = _Held(digest, _used(held.key, used[held.key.id]))
                self._used_ms = {k: ms for k, ms in self._used_ms.items() if used.get(k) != ms}

    def _read(self) -> dict[str, _Held]:
        with self._file.read() as cursor:
            rows = cursor.execute(
                "SELECT k.digest, k.id, k.company_id, c.name, k.name, k.prefix, k.suffix, k.scopes, k.created_at, "
                "k.created_by, k.last_used_at, k.expires_at FROM api_keys k JOIN companies c ON c.id = k.company_id"
            ).fetchall()
        return {row[0]: _Held(row[0], key_of_row(row[1:])) for row in rows}

    def _adopt(self, rows: dict[str, _Held]) -> None:
        self._by_digest = rows


def _used(key: ApiKey, used_ms: int) -> ApiKey:
    return msgspec.structs.replace(key, last_used_at=from_ms(used_ms))
