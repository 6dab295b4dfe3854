"""`Store`: all that an engine keeps. Control says who owns what; documents are found and read through the `Backend`.

Everything above knows this protocol only. What one kind alone can do is a capability; the other kind says why not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from engine.backend.protocol import Backend, Capabilities
from engine.model.namespace import ApiKey, Company, NamespaceState, NamespaceStats, StorageTotals, StoredNamespace
from engine.model.session import StoredSession
from engine.upkeep import Task


class BackupReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup or a restored directory holds.

    Attributes:
        path: the new folder.
        bytes: of its files.
        problems: namespaces that could not be opened, one readable line each; their files are copied as they are.
    """

    path: Path
    bytes: int
    namespaces: int
    documents: int
    problems: tuple[str, ...] = ()


class RepairReport(msgspec.Struct, frozen=True):
    """What a repair came to, one readable line each.

    Attributes:
        lines: everything that was found; empty when nothing is damaged.
        failed: those of them that name what stays unusable.
    """

    lines: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Catalog(Protocol):
    """Which companies and namespaces there are. Thread-safe.

    What another process has changed holds at the next call.
    """

    def company(self, name: str, *, create: bool = True) -> Company:
        """The company of that name; ``default`` is always there.

        Raises:
            NotFound: it does not exist, and `create` is False.
            InvalidRequest: the name is blank, too long, or has unprintable characters.
        """
        ...

    def companies(self) -> list[Company]:
        """All of them."""
        ...

    def namespaces(self, company_id: int) -> list[StoredNamespace]:
        """Those of the company, by name."""
        ...

    def namespace(self, company_id: int, name: str) -> StoredNamespace:
        """One namespace of the company. Raises `NamespaceNotFound`."""
        ...

    def find(self, company_id: int, name: str) -> StoredNamespace | None:
        """As `namespace`, None where there is none."""
        ...

    def reserve(self) -> int:
        """A number for a namespace that is about to be made; it is given out once."""
        ...

    def add_namespace(self, company: Company, name: str, number: int, state: NamespaceState) -> StoredNamespace:
        """Let a namespace that is whole come into being: the next lookup finds it.

        Args:
            name: already checked.
            number: from `reserve`.
            state: with a schema.

        Raises:
            NamespaceExists: another process has made one of that name meanwhile.
        """
        ...

    def record(self, namespace_id: int, state: NamespaceState) -> StoredNamespace:
        """Take over what the documents' side says of a namespace after a write.

        Raises:
            NamespaceNotFound: it was dropped meanwhile.
        """
        ...

    def drop_namespace(self, namespace_id: int) -> None:
        """Forget a namespace and its search sessions; its number is not given out again. Unknown ones are ignored.

        Raises:
            StorageError: it is still there, or it is not known whether it is.
        """
        ...


class Keyring(Protocol):
    """The API keys of all companies. Thread-safe. A key that any process has revoked is refused at the next call."""

    @property
    def is_used(self) -> bool:
        """Whether there is any key that was stored."""
        ...

    def verify(self, raw: str) -> ApiKey | None:
        """The key, when it exists and has not expired; None for every other text, in the same time."""
        ...

    def register_root(self, raw: str, company: Company, name: str = "root") -> ApiKey:
        """Accept `raw`, which the operator has set, as an admin key of `company` until the process ends."""
        ...

    def of_company(self, company_id: int) -> list[ApiKey]:
        """See `KeyStore.list`."""
        ...

    def revoke(self, company_id: int, key_id: str) -> None:
        """See `KeyStore.revoke`."""
        ...

    def stored(self, company_id: int) -> list[tuple[ApiKey, str]]:
        """The company's keys, each with the digest of its raw form, for another store."""
        ...

    def add(self, key: ApiKey, digest: str) -> None:
        """Keep a key under the digest of its raw form; one that is there already stays as it is."""
        ...


class Sessions(Protocol):
    """Search sessions between their turns. Thread-safe.

    ::

        add → open → claim → running → save → open → …
            ↘ failed                 ↘ fail → failed     (also when the process that runs a turn dies)
        any of them, unused for the lifetime: expired (410) for 7 days, then gone (404)
    """

    def add(self, company_id: int, namespace_id: int, session_id: str, state: bytes, *, failed: bool = False) -> None:
        """A session whose first turn has ended: open to the next, or failed."""
        ...

    def load(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        """The session of this company and namespace, whatever its status.

        Raises:
            SessionNotFound: there is none, it is another's, or it expired more than 7 days ago.
            SessionExpired: it was not used for its lifetime.
        """
        ...

    def claim(self, company_id: int, namespace_id: int, session_id: str) -> StoredSession:
        """Take an open session for one continuation. `save`, `release` or `fail` ends the claim.

        Raises:
            SessionNotFound, SessionExpired: as `load`.
            SessionFailed: an earlier turn failed.
            SessionBusy: another continuation has it, in whatever process.
        """
        ...

    def save(self, session_id: str, state: bytes) -> None:
        """End a turn: keep its state, open the session to the next, and begin its lifetime anew.

        Raises:
            SessionFailed: the claim was given up for lost meanwhile.
        """
        ...

    def release(self, session_id: str) -> None:
        """End a turn that was cancelled: the session is as it was before the claim, its lifetime begun anew."""
        ...

    def fail(self, session_id: str) -> None:
        """End a turn that failed: the session cannot be continued."""
        ...

    def purge(self) -> int:
        """Forget sessions 7 days after they expired, and those of a company beyond its most; how many are gone."""
        ...


class Store(Protocol):
    """All that an engine keeps, open. Thread-safe."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def keyring(self) -> Keyring: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def documents(self) -> Backend: ...

    @property
    def notices(self) -> list[str]:
        """What this installation goes without, one readable line each; empty when nothing is missing."""
        ...

    @property
    def open_namespaces(self) -> int:
        """How many namespaces hold memory and files of this process now."""
        ...

    def tasks(self) -> list[Task]:
        """What is to be done now and then while the store is open."""
        ...

    def ping(self) -> None:
        """Have the database answer a query. Raises `StorageError` when it does not."""
        ...

    def stats(self, company_id: int) -> list[NamespaceStats]:
        """How large each namespace of the company is, by name."""
        ...

    def totals(self) -> StorageTotals:
        """What all companies store."""
        ...

    def problems(self, namespace: StoredNamespace) -> list[str]:
        """What is wrong with a namespace that nobody writes to now, one readable line a fault. Reads everything."""
        ...

    def strays(self) -> list[str]:
        """What is there and belongs to no namespace, one readable line each."""
        ...

    def backup(self, target: Path) -> BackupReport:
        """Write a consistent copy of everything into the new folder `target`.

        Raises:
            InvalidRequest: `target` exists, or this kind of store has no backups of its own; the message says what has.
        """
        ...

    def close(self) -> None:
        """Save what makes the next opening quick, and let go of everything; a second call does nothing."""
        ...
