"""API keys as every store makes them. The raw key is shown once; only its SHA-256 is kept.

A key holds 256 random bits, so a fast hash is enough: there is nothing to guess from a digest.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast, get_args

from engine.errors import InvalidRequest
from engine.model.clock import from_ms, to_ms
from engine.model.namespace import ApiKey, Company, Scope

DEFAULT_SCOPES: tuple[Scope, ...] = ("read", "search", "write")
ALL_SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "qk_"

_SHOWN_PREFIX = len(PREFIX) + 4
_SHOWN_SUFFIX = 4
_MAX_NAME = 128


def make_key(
    company: Company,
    name: str,
    scopes: Sequence[str] | None,
    expires_at: datetime | None,
    created_by: str | None,
    now: datetime,
) -> tuple[ApiKey, str]:
    """A key that nobody had before, and its raw form.

    Args:
        scopes: None gives all but ``admin``.
        expires_at: aware; None never expires.

    Raises:
        InvalidRequest: a name, scope or time cannot be used; carries the path.
    """
    now = from_ms(to_ms(now))
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
    return key, raw


def root_key(raw: str, company: Company, name: str, now: datetime) -> ApiKey:
    """The admin key that an operator has set.

    Raises:
        InvalidRequest: it is shorter than 8 characters, or holds white space or other than ASCII.
    """
    if len(raw) < 8 or not raw.isascii() or not raw.isprintable() or " " in raw:
        raise InvalidRequest("A root key has at least 8 ASCII characters without spaces.", path="api_key")
    return ApiKey(
        id="key_root",
        name=name,
        company_id=company.id,
        company_name=company.name,
        prefix="",
        suffix="",
        scopes=("admin",),
        created_at=from_ms(to_ms(now)),
    )


def digest_of(raw: str) -> str:
    """What is stored of a key: SHA-256 in hexadecimal."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def stored_values(key: ApiKey, digest: str) -> list[object]:
    """A key as every store's table holds it; times are milliseconds since 1970.

    Returns:
        id, company, name, prefix, suffix, digest, scopes, created_at, created_by, last_used_at, expires_at.
    """
    used, expires = (None if at is None else to_ms(at) for at in (key.last_used_at, key.expires_at))
    shown = [key.id, key.company_id, key.name, key.prefix, key.suffix]
    return [*shown, digest, " ".join(key.scopes), to_ms(key.created_at), key.created_by, used, expires]


def key_of_row(row: Sequence[Any]) -> ApiKey:
    """The key that a store has read.

    Args:
        row: id, company, the company's name, name, prefix, suffix, scopes, created_at, created_by, last_used_at,
            expires_at.
    """
    key_id, company_id, company, name, prefix, suffix, scopes, created_at, created_by, used_at, expires_at = row
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


def _check_scopes(scopes: Sequence[str]) -> tuple[Scope, ...]:
    unknown = [scope for scope in scopes if scope not in ALL_SCOPES]
    if unknown or not scopes:
        raise InvalidRequest(f"Scopes are one or more of {', '.join(ALL_SCOPES)}.", path="scopes")
    return tuple(cast("list[Scope]", list(dict.fromkeys(scopes))))
