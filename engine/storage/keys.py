"""API keys. The raw key is shown once; only its SHA-256 is kept.

A key holds 256 random bits, so a fast hash is enough: there is nothing to guess from a digest.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast, get_args

import msgspec

from engine.errors import ApiKeyNotFound, InvalidRequest
from engine.model.namespace import ApiKey, Scope
from engine.storage.catalog import Company
from engine.storage.catalog_file import CatalogFile
from engine.storage.clock import Clock, from_ms, to_ms, utc_now
from engine.storage.mirror import Mirror

DEFAULT_SCOPES: tuple[Scope, ...] = ("read", "search", "write")
ALL_SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "qk_"

_SHOWN_PREFIX = len(PREFIX) + 4
_SHOWN_SUFFIX = 4
_MAX_NAME = 128


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
        digest = _digest(raw)
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
        if len(raw) < 8 or not raw.isascii() or not raw.isprintable() or " " in raw:
            raise InvalidRequest("A root key has at least 8 ASCII characters without spaces.", path="api_key")
        key = ApiKey(
            id="key_root",
            name=name,
            company_id=company.id,
            company_name=company.name,
            prefix="",
            suffix="",
            scopes=("admin",),
            created_at=from_ms(to_ms(self._clock())),
        )
        with self._lock:
            self._roots[_digest(raw)] = _Held(_digest(raw), key)
        return key

    def create(
        self,
        company: Company,
        name: str,
        scopes: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        created_by: str | None = None,
    ) -> tuple[ApiKey, str]:
        """See `KeyStore.create`."""
        now = from_ms(to_ms(self._clock()))
        key_scopes = _check_scopes(DEFAULT_SCOPES if scopes is None else scopes)
        if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
            raise InvalidRequest(f"A key's name has 1 to {_MAX_NAME} printable characters.", path="name")
        if expires_at is not None:
            if expires_at.tzinfo is None:
                raise InvalidRequest("`expires_at` needs an offset from UTC.", path="expires_at")
            try:
                expires_at = from_ms(to_ms(expires_at))
            except OverflowError as error:
                raise InvalidRequest("`expires_at` lies beyond the year 9999 in UTC.", path="expires_at") from error
            if expires_at <= now:
                raise InvalidRequest("`expires_at` lies in the past.", path="expires_at")
        raw = PREFIX + secrets.token_urlsafe(32)
        key = ApiKey(
            id="key_" + secrets.token_hex(12),
            name=name,
            company_id=company.id,
            company_name=company.name,
            prefix=raw[:_SHOWN_PREFIX],
            suffix=raw[-_SHOWN_SUFFIX:],
            scopes=key_scopes,
            created_at=now,
            created_by=created_by,
            expires_at=expires_at,
        )
        digest = _digest(raw)
        expires_ms = None if expires_at is None else to_ms(expires_at)
        shown = [key.id, company.id, name, key.prefix, key.suffix]
        with self._changing():
            with self._writing() as cursor:
                cursor.execute(
                    "INSERT INTO api_keys VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10)",
                    [*shown, digest, " ".join(key_scopes), to_ms(now), created_by, expires_ms],
                )
            with self._lock:
                self._by_digest[digest] = _Held(digest, key)
        return key, raw

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
                "SELECT k.digest, k.id, k.name, k.company_id, c.name, k.prefix, k.suffix, k.scopes, k.created_at, "
                "k.created_by, k.last_used_at, k.expires_at FROM api_keys k JOIN companies c ON c.id = k.company_id"
            ).fetchall()
        return {row[0]: _Held(row[0], _from_row(row[1:])) for row in rows}

    def _adopt(self, rows: dict[str, _Held]) -> None:
        self._by_digest = rows


class KeyStore:
    """The keys of one company. Thread-safe."""

    def __init__(self, keyring: Keyring, company: Company) -> None:
        self._keyring = keyring
        self._company = company

    def create(
        self,
        name: str,
        scopes: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        created_by: str | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its raw form, which cannot be had again.

        Args:
            scopes: None gives all but ``admin``.
            expires_at: aware; None never expires.
            created_by: name of the key that asked, or ``cli``.

        Raises:
            InvalidRequest: a name, scope or time cannot be used; carries the path.
        """
        return self._keyring.create(self._company, name, scopes, expires_at, created_by)

    def list(self) -> list[ApiKey]:
        """All keys that were not revoked, expired ones included, oldest first."""
        return self._keyring.of_company(self._company.id)

    def revoke(self, key_id: str) -> None:
        """End a key at once. Raises `ApiKeyNotFound`, for another company's key as well."""
        self._keyring.revoke(self._company.id, key_id)

    def verify(self, raw: str) -> ApiKey | None:
        """The key of whatever company that `raw` is, as `Keyring.verify`."""
        return self._keyring.verify(raw)

    def register_root(self, raw: str) -> ApiKey:
        """Accept `raw` as an admin key of this company until the process ends, as `Keyring.register_root`."""
        return self._keyring.register_root(raw, self._company)


def _digest(raw: str) -> str:
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def _check_scopes(scopes: Sequence[str]) -> tuple[Scope, ...]:
    unknown = [scope for scope in scopes if scope not in ALL_SCOPES]
    if unknown or not scopes:
        raise InvalidRequest(f"Scopes are one or more of {', '.join(ALL_SCOPES)}.", path="scopes")
    return tuple(cast("list[Scope]", list(dict.fromkeys(scopes))))


def _used(key: ApiKey, used_ms: int) -> ApiKey:
    return msgspec.structs.replace(key, last_used_at=from_ms(used_ms))


def _from_row(row: tuple[Any, ...]) -> ApiKey:
    key_id, name, company_id, company, prefix, suffix, scopes, created_at, created_by, used_at, expires_at = row
    return ApiKey(
        id=key_id,
        name=name,
        company_id=company_id,
        company_name=company,
        prefix=prefix,
        suffix=suffix,
        scopes=tuple(scopes.split()),
        created_at=from_ms(created_at),
        created_by=created_by,
        last_used_at=None if used_at is None else from_ms(used_at),
        expires_at=None if expires_at is None else from_ms(expires_at),
    )
