"""`KeyStore`: the keys of one company, over the keyring of whatever store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.model.clock import Clock, utc_now
from engine.model.keys import digest_of, make_key
from engine.model.namespace import ApiKey, Company
from engine.store.protocol import Keyring


class KeyStore:
    """The keys of one company. Thread-safe."""

    def __init__(self, keyring: Keyring, company: Company, clock: Clock = utc_now) -> None:
        self._keyring = keyring
        self._company = company
        self._clock = clock

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
        key, raw = make_key(self._company, name, scopes, expires_at, created_by, self._clock())
        self._keyring.add(key, digest_of(raw))
        return key, raw

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
