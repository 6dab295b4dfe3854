"""Companies and namespaces: the catalog's rows, kept in memory so that a lookup costs no query."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import msgspec

from engine.errors import NamespaceNotFound, NotFound, StorageError
from engine.model.clock import Clock, from_ms, to_ms, utc_now
from engine.model.namespace import DEFAULT_COMPANY, Company, NamespaceState, StoredNamespace, check_company_name
from engine.model.schema import Schema
from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import Cursor
from engine.storage.mirror import Mirror

FLUSHED_AT_ONCE = 100
"""Rows a transaction: other writers of the catalog wait for no more than these."""


class _Rows(NamedTuple):
    companies: list[Company]
    namespaces: list[StoredNamespace]


class Catalog(Mirror[_Rows]):
    """All companies and namespaces of one data directory. Thread-safe; the only writer of its tables.

    Which namespaces there are is decided here. Their schemas and counts mirror what their own databases say: they
    move in memory at once, and are written by `flush` later; what a crash loses of them is read from the namespaces.

    Args:
        dropping: called before a namespace is dropped, to write sessions that would else come after its last.
    """

    def __init__(
        self, file: CatalogFile, clock: Clock = utc_now, dropping: Callable[[], object] = lambda: None
    ) -> None:
        self._clock = clock
        self._dropping = dropping
        self._companies: dict[str, Company] = {}
        self._by_id: dict[int, StoredNamespace] = {}
        self._by_name: dict[tuple[int, str], StoredNamespace] = {}
        self._names: dict[int, list[str]] = {}
        self._unwritten: dict[int, StoredNamespace] = {}
        super().__init__(file)
        self.company(DEFAULT_COMPANY)

    def company(self, name: str, *, create: bool = True) -> Company:
        """The company of that name; ``default`` always has id 1.

        Raises:
            NotFound: it does not exist, and `create` is False.
            InvalidRequest: the name is blank, too long, or has unprintable characters.
        """
        with self._lock:
            found = self._companies.get(name)
        if found is not None:
            return found
        if not create:
            raise NotFound(f"No company named {name!r}.")
        check_company_name(name)
        with self._changing():
            if name in self._companies:
                return self._companies[name]
            with self._writing() as cursor:
                company = Company(_take_number(cursor, "next_company"), name)
                cursor.execute("INSERT INTO companies VALUES ($1, $2, $3)", [*company, to_ms(self._clock())])
            with self._lock:
                self._companies[name] = company
            return company

    def companies(self) -> list[Company]:
        """All of them."""
        with self._lock:
            return list(self._companies.values())

    def namespaces(self, company_id: int) -> list[StoredNamespace]:
        """Those of the company, by name."""
        with self._lock:
            return [self._by_name[company_id, name] for name in self._names.get(company_id, [])]

    def namespace(self, company_id: int, name: str) -> StoredNamespace:
        """One namespace of the company. Raises `NamespaceNotFound`."""
        found = self.find(company_id, name)
        if found is None:
            raise NamespaceNotFound(name)
        return found

    def find(self, company_id: int, name: str) -> StoredNamespace | None:
        """As `namespace`, None where there is none."""
        with self._lock:
            return self._by_name.get((company_id, name))

    def of_id(self, namespace_id: int) -> StoredNamespace | None:
        """The namespace of that number, of whatever company; None where there is none."""
        with self._lock:
            return self._by_id.get(namespace_id)

    def namespace_ids(self) -> set[int]:
        """Of all companies."""
        with self._lock:
            return set(self._by_id)

    def reserve(self) -> int:
        """A number for a namespace that is about to be made; it is given out once."""
        with self._changing(), self._writing() as cursor:
            return _take_number(cursor, "next_namespace")

    def add_namespace(self, company: Company, name: str, number: int, state: NamespaceState) -> StoredNamespace:
        """Let a namespace that is whole on disk come into being: the next lookup finds it.

        Args:
            name: already checked; no other namespace of the company has it.
            number: from `reserve`.
            state: with a schema.
        """
        now = to_ms(self._clock())
        made = StoredNamespace(
            id=number,
            name=name,
            company_id=company.id,
            company_name=company.name,
            created_at=from_ms(now),
            updated_at=from_ms(now),
            schema=state.schema or Schema(),
            embedder=state.embedder,
            dimension=state.dimension,
            seq=state.seq,
            documents=state.documents,
            passages=state.passages,
            storage_bytes=state.storage_bytes,
        )
        schema, counts = made.schema, _counts(made)
        with self._changing():
            with self._writing() as cursor:
                cursor.execute(
                    "INSERT INTO namespaces VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11)",
                    [number, company.id, name, _encode_schema(schema), state.embedder, state.dimension, now, *counts],
                )
            with self._lock:
                self._hold(made)
        return made

    def record(self, namespace_id: int, state: NamespaceState) -> StoredNamespace:
        """Take over what the namespace's database says, in memory; `flush` writes it down.

        A new sequence or schema moves `updated_at`: strictly forward, even when the clock goes back.

        Raises:
            NamespaceNotFound: it was dropped meanwhile.
        """
        with self._lock:
            found = self._by_id.get(namespace_id)
            if found is None:
                raise NamespaceNotFound(str(namespace_id))
            schema = found.schema if state.schema is None else state.schema
            is_write = found.seq >= 0 and (found.seq, found.schema) != (state.seq, schema)
            changed = msgspec.structs.replace(
                found,
                schema=schema,
                updated_at=self._later(found) if is_write else found.updated_at,
                embedder=state.embedder or found.embedder,
                dimension=state.dimension,
                seq=state.seq,
                documents=state.documents,
                passages=state.passages,
                storage_bytes=state.storage_bytes,
            )
            if changed != found:
                self._unwritten[namespace_id] = changed
                self._replace(changed)
            return changed

    def flush(self) -> int:
        """Write down what `record` took over; how many namespaces. What cannot be written now is kept for later.

        Raises:
            StorageError: the file refused it.
        """
        written = 0
        while count := self._flush_some():
            written += count
        return written

    def _flush_some(self) -> int:
        with self._changing():
            with self._lock:
                due = dict(islice(self._unwritten.items(), FLUSHED_AT_ONCE))
            if not due:
                return 0
            with self._writing() as cursor:
                for n in due.values():
                    cursor.execute(
                        "UPDATE namespaces SET schema = $2, embedder = $3, dimension = $4, updated_at = $5, seq = $6, "
                        "documents = $7, passages = $8, storage_bytes = $9 WHERE id = $1",
                        [n.id, _encode_schema(n.schema), n.embedder, n.dimension, to_ms(n.updated_at), *_counts(n)],
                    )
            with self._lock:
                for number, written in due.items():
                    if self._unwritten.get(number) is written:
                        del self._unwritten[number]
            return len(due)

    def drop_namespace(self, namespace_id: int) -> None:
        """Forget a namespace and its search sessions; its number is not given out again. Unknown ones are ignored.

        Raises:
            StorageError: it is still there, or it is not known whether it is.
        """
        try:
            self._drop(namespace_id)
        except StorageError:
            if self._stale or namespace_id in self._by_id:
                raise
            # It failed after the commit, at the side file perhaps: the row is gone for good.

    def _drop(self, namespace_id: int) -> None:
        with self._changing():
            if namespace_id not in self._by_id:
                return
            self._dropping()
            with self._writing() as cursor:
                cursor.execute("DELETE FROM sessions WHERE namespace_id = $1", [namespace_id])
                cursor.execute("DELETE FROM namespaces WHERE id = $1", [namespace_id])
            with self._lock:
                found = self._by_id.pop(namespace_id)
                self._unwritten.pop(namespace_id, None)
                del self._by_name[found.company_id, found.name]
                self._names[found.company_id].remove(found.name)

    def _read(self) -> _Rows:
        with self._file.read() as cursor:
            companies = [Company(*row) for row in cursor.execute("SELECT id, name FROM companies").fetchall()]
            rows = cursor.execute(
                "SELECT id, company_id, name, schema, embedder, dimension, created_at, updated_at, seq, documents, "
                "passages, storage_bytes FROM namespaces"
            ).fetchall()
        names = {company.id: company.name for company in companies}
        # Namespaces of one company often share a schema; one object then serves them all.
        schemas = {text: msgspec.json.decode(text, type=Schema) for text in {row[3] for row in rows}}
        namespaces = [
            StoredNamespace(
                id=number,
                name=name,
                company_id=company_id,
                company_name=names[company_id],
                created_at=from_ms(created_at),
                updated_at=from_ms(updated_at),
                schema=schemas[schema],
                embedder=embedder,
                dimension=dimension,
                seq=seq,
                documents=documents,
                passages=passages,
                storage_bytes=storage_bytes,
            )
            for (number, company_id, name, schema, embedder, dimension, created_at, updated_at, *counts) in rows
            for seq, documents, passages, storage_bytes in (counts,)
        ]
        return _Rows(companies, namespaces)

    def _adopt(self, rows: _Rows) -> None:
        self._companies = {company.name: company for company in rows.companies}
        self._by_id, self._by_name, self._names = {}, {}, {}
        for namespace in rows.namespaces:
            # What was recorded and not yet written is newer than the file.
            self._hold(self._unwritten.get(namespace.id, namespace))

    def _later(self, namespace: StoredNamespace) -> datetime:
        return from_ms(max(to_ms(self._clock()), to_ms(namespace.updated_at) + 1))

    def _hold(self, namespace: StoredNamespace) -> None:
        self._by_id[namespace.id] = namespace
        self._by_name[namespace.company_id, namespace.name] = namespace
        insort(self._names.setdefault(namespace.company_id, []), namespace.name)

    def _replace(self, namespace: StoredNamespace) -> None:
        self._by_name[namespace.company_id, namespace.name] = namespace
        # Last, as `record` compares with it: a change that was cut short is made again.
        self._by_id[namespace.id] = namespace


def _counts(namespace: StoredNamespace) -> list[int]:
    return [namespace.seq, namespace.documents, namespace.passages, namespace.storage_bytes]


def _take_number(cursor: Cursor, counter: str) -> int:
    row = cursor.execute(f"SELECT {counter} FROM state").fetchone()  # noqa: S608 - a name of ours
    if row is None:
        raise StorageError("The catalog has lost its counters.")
    cursor.execute(f"UPDATE state SET {counter} = {counter} + 1")  # noqa: S608
    return int(row[0])


def _encode_schema(schema: Schema) -> str:
    return msgspec.json.encode(schema).decode()
