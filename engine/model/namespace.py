"""Namespaces, companies and keys as values."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from engine.errors import InvalidRequest, ReindexRequired
from engine.model.schema import Schema

Scope = Literal["read", "search", "write", "admin"]
DEFAULT_COMPANY = "default"
MAX_COMPANY_NAME = 128


class Company(NamedTuple):
    """An account: owns namespaces, keys and sessions."""

    id: int
    name: str


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A collection of documents with a common schema.

    Attributes:
        id: never reused.
        created_at: UTC, aware.
    """

    id: int
    name: str
    company_id: int
    company_name: str
    created_at: datetime
    updated_at: datetime
    schema: Schema


class StoredNamespace(Namespace, frozen=True, kw_only=True):
    """A namespace, what its vectors were made by, and what it holds.

    Attributes:
        seq: journal sequence that schema and counts are of; -1 before its database was asked.
    """

    embedder: str
    dimension: int
    seq: int = -1
    documents: int = 0
    passages: int = 0
    storage_bytes: int = 0


class NamespaceState(msgspec.Struct, frozen=True, kw_only=True):
    """What a namespace's own database says of it, which is the truth; the catalog mirrors it.

    Attributes:
        seq: journal sequence of the last committed write.
        schema: None where a version wrote it that kept the schema in the catalog alone.
        storage_bytes: size of its folder.
    """

    seq: int
    schema: Schema | None
    embedder: str
    dimension: int
    documents: int
    passages: int
    storage_bytes: int


class NamespaceStats(msgspec.Struct, frozen=True, kw_only=True):
    """How large a namespace is, as the catalog keeps it: nothing is opened to tell.

    Attributes:
        storage_bytes: on disk, as of the last write or tidying.
        problem: why the namespace cannot be opened, readable; empty where nothing is known to be wrong.
    """

    id: int
    name: str
    created_at: datetime
    updated_at: datetime
    documents: int
    passages: int
    storage_bytes: int
    problem: str = ""

    @classmethod
    def of(cls, stored: StoredNamespace, problem: str = "") -> NamespaceStats:
        """What the catalog keeps of it."""
        return cls(
            id=stored.id,
            name=stored.name,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
            documents=stored.documents,
            passages=stored.passages,
            storage_bytes=stored.storage_bytes,
            problem=problem,
        )


class StorageTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What all companies together store.

    Attributes:
        damaged: how many of the namespaces are known to be unusable.
    """

    namespaces: int
    documents: int
    passages: int
    storage_bytes: int
    damaged: int


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret.

    Attributes:
        prefix: first readable characters of the raw key; `suffix` its last four.
        created_by: name of the key that made it, or ``cli``.
    """

    id: str
    name: str
    company_id: int
    company_name: str
    prefix: str
    suffix: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    created_by: str | None = None
    last_used_at: datetime | None = None
    expires_at: datetime | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether the key may do what needs `scope`; ``admin`` may do all."""
        return "admin" in self.scopes or scope in self.scopes


def check_company_name(name: str) -> None:
    """Raises `InvalidRequest` when no company may be called that."""
    if not name.strip() or len(name) > MAX_COMPANY_NAME or not name.isprintable():
        raise InvalidRequest(f"A company name has 1 to {MAX_COMPANY_NAME} printable characters.", path="company")


def check_embedder(namespace: StoredNamespace, embedder: str, dimension: int) -> None:
    """Raises `ReindexRequired` when the stored vectors were made by another embedder: vectors are never mixed."""
    if (namespace.embedder, namespace.dimension) != (embedder, dimension):
        raise ReindexRequired(
            f"Namespace {namespace.name!r} holds vectors of {namespace.embedder!r}, not of {embedder!r}; reindex it."
        )
