"""Companies and namespaces in a database. Nothing is remembered: each lookup is one statement by an index.

That is what lets a namespace that one server drops, makes or changes be so for every other at its next request; a copy
in memory would have to be asked for its age first, which costs the same statement.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from psycopg import errors

from engine.errors import ConcurrentChange, NamespaceNotFound, NotFound, StorageError
from engine.model.clock import from_ms
from engine.model.namespace import (
    Company,
    NamespaceState,
    NamespaceStats,
    StorageTotals,
    StoredNamespace,
    check_company_name,
)
from engine.model.schema import Schema
from engine.store.postgres.clock import NOW_MS
from engine.store.postgres.connection import Connection, Pool

_COLUMNS = (
    "n.namespace, n.name, n.company, c.name, n.created_at, n.updated_at, n.schema, n.embedder, n.dimension, n.seq, "
    "n.documents, n.passages, n.bytes"
)
_FROM = f"SELECT {_COLUMNS} FROM quarry.namespaces n JOIN quarry.companies c ON c.id = n.company"


class PostgresCatalog:
    """Implements `engine.store.protocol.Catalog`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def company(self, name: str, *, create: bool = True) -> Company:
        with self._pool.reading() as connection:
            row = connection.execute("SELECT id, name FROM quarry.companies WHERE name = %s", [_asked(name)]).fetchone()
        if row is not None:
            return Company(*row)
        if not create:
            raise NotFound(f"No company named {name!r}.")
        check_company_name(name)

        def work(connection: Connection) -> Company:
            connection.execute(
                (
                    f"INSERT INTO quarry.companies (name, created_at) VALUES (%s, {NOW_MS}) ON CONFLICT DO NOTHING"
                ).encode(),
                [name],
            )
            made = connection.execute("SELECT id, name FROM quarry.companies WHERE name = %s", [name]).fetchone()
            if made is None:
                raise StorageError("A company that was just made is not there.")
            return Company(*made)

        return self._pool.written(work)

    def companies(self) -> list[Company]:
        with self._pool.reading() as connection:
            return [Company(*row) for row in connection.execute("SELECT id, name FROM quarry.companies ORDER BY id")]

    def namespaces(self, company_id: int) -> list[StoredNamespace]:
        return self._found("n.company = %s ORDER BY n.name", [company_id])

    def namespace(self, company_id: int, name: str) -> StoredNamespace:
        found = self.find(company_id, name)
        if found is None:
            raise NamespaceNotFound(name)
        return found

    def find(self, company_id: int, name: str) -> StoredNamespace | None:
        found = self._found("n.company = %s AND n.name = %s", [company_id, _asked(name)])
        return found[0] if found else None

    def reserve(self) -> int:
        with self._pool.apart() as connection:
            row = connection.execute("SELECT nextval('quarry.numbers')").fetchone()
        if row is None:
            raise StorageError("The database gave no number.")
        return int(row[0])

    def add_namespace(self, company: Company, name: str, number: int, state: NamespaceState) -> StoredNamespace:  # noqa: ARG002 - its row says so
        def work(connection: Connection) -> None:
            connection.execute(
                "UPDATE quarry.namespaces SET company = %s, name = %s WHERE namespace = %s", [company.id, name, number]
            )

        try:
            self._pool.written(work)
        except StorageError as error:
            if isinstance(error.__cause__, errors.UniqueViolation):
                raise ConcurrentChange from error
            raise
        return self._of_number(number)

    def record(self, namespace_id: int, state: NamespaceState) -> StoredNamespace:  # noqa: ARG002 - its row says so
        return self._of_number(namespace_id)

    def drop_namespace(self, namespace_id: int) -> None:
        def work(connection: Connection) -> None:
            # What holds its rows goes later; from here on nobody finds it.
            connection.execute(
                "UPDATE quarry.namespaces SET company = NULL, name = NULL WHERE namespace = %s", [namespace_id]
            )
            connection.execute("DELETE FROM quarry.sessions WHERE namespace = %s", [namespace_id])

        self._pool.written(work)

    def stats(self, company_id: int) -> list[NamespaceStats]:
        """How large each namespace of the company is, by name."""
        return list(map(NamespaceStats.of, self.namespaces(company_id)))

    def totals(self) -> StorageTotals:
        """What all companies store."""
        with self._pool.reading() as connection:
            row = connection.execute(
                "SELECT count(*), coalesce(sum(documents), 0), coalesce(sum(passages), 0), coalesce(sum(bytes), 0) "
                "FROM quarry.namespaces WHERE name IS NOT NULL"
            ).fetchone()
        namespaces, documents, passages, size = map(int, row or (0, 0, 0, 0))
        return StorageTotals(
            namespaces=namespaces, documents=documents, passages=passages, storage_bytes=size, damaged=0
        )

    def _of_number(self, number: int) -> StoredNamespace:
        found = self._found("n.namespace = %s", [number])
        if not found:
            raise NamespaceNotFound(str(number))
        return found[0]

    def _found(self, where: str, parameters: list[Any]) -> list[StoredNamespace]:
        statement = f"{_FROM} WHERE {where}".encode()
        rows = self._pool.read(lambda connection: connection.execute(statement, parameters).fetchall())
        return [_stored(row) for row in rows]


def _stored(row: tuple[Any, ...]) -> StoredNamespace:
    number, name, company_id, company, created_at, updated_at, schema, embedder, dimension, *counts = row
    seq, documents, passages, size = counts
    return StoredNamespace(
        id=number,
        name=name,
        company_id=company_id,
        company_name=company,
        created_at=from_ms(created_at),
        updated_at=from_ms(updated_at),
        schema=Schema() if schema is None else decoded_schema(schema),
        embedder=embedder,
        dimension=dimension,
        seq=seq,
        documents=documents,
        passages=passages,
        storage_bytes=size,
    )


@lru_cache(maxsize=1_000)
def decoded_schema(text: str) -> Schema:
    """A schema as it is stored. Namespaces are looked up at each request, and most have the schema they had."""
    return msgspec.json.decode(text, type=Schema)


def _asked(name: str) -> str:
    # No name holds U+0000, which the database would refuse even to compare.
    return name.replace("\x00", "\ufffd")
