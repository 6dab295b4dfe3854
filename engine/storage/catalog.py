"""Companies and namespaces: the catalog's rows, held in memory so that a lookup costs no query."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left, bisect_right, insort
from datetime import datetime
from typing import NamedTuple

import msgspec

from engine.errors import InvalidRequest, NamespaceNotFound, NotFound, ReindexRequired, StorageError
from engine.model.namespace import DEFAULT_COMPANY, Namespace
from engine.model.schema import Schema
from engine.storage.catalog_file import CatalogFile
from engine.storage.clock import Clock, from_ms, to_ms, utc_now
from engine.storage.connection import Cursor
from engine.storage.mirror import Mirror

MAX_PAGE = 1_000
MAX_COMPANY_NAME = 128


class Company(NamedTuple):
    """An account: owns namespaces, keys and sessions."""

    id: int
    name: str


class StoredNamespace(Namespace, frozen=True, kw_only=True):
    """A namespace and what its vectors were made by."""

    embedder: str
    dimension: int


def check_embedder(namespace: StoredNamespace, embedder: str, dimension: int) -> None:
    """Raises `ReindexRequired` when the stored vectors were made by another embedder: vectors are never mixed."""
    if (namespace.embedder, namespace.dimension) != (embedder, dimension):
        raise ReindexRequired(
            f"Namespace {namespace.name!r} holds vectors of {namespace.embedder!r}, not of {embedder!r}; reindex it."
        )


class NamespacePage(NamedTuple):
    """Some namespaces by name; `next_cursor` continues after the last, None at the end."""

    namespaces: list[StoredNamespace]
    next_cursor: str | None


class Catalog(Mirror):
    """All companies and namespaces of one data directory. Thread-safe; the only writer of its tables."""

    def __init__(self, file: CatalogFile, clock: Clock = utc_now) -> None:
        super().__init__(file)
        self._clock = clock
        self._companies: dict[str, Company] = {}
        self._by_id: dict[int, StoredNamespace] = {}
        self._by_name: dict[tuple[int, str], StoredNamespace] = {}
        self._names: dict[int, list[str]] = {}
        self.company(DEFAULT_COMPANY)

    def company(self, name: str, *, create: bool = True) -> Company:
        """The company of that name; ``default`` always has id 1.

        Raises:
            NotFound: it does not exist, and `create` is False.
            InvalidRequest: the name is blank, too long, or has unprintable characters.
        """
        with self._fresh():
            found = self._companies.get(name)
            if found is not None:
                return found
            if not create:
                raise NotFound(f"No company named {name!r}.")
            if not name.strip() or len(name) > MAX_COMPANY_NAME or not name.isprintable():
                raise InvalidRequest(
                    f"A company name has 1 to {MAX_COMPANY_NAME} printable characters.", path="company"
                )
            with self._writing() as cursor:
                company = Company(_take_number(cursor, "next_company"), name)
                cursor.execute("INSERT INTO companies VALUES ($1, $2, $3)", [*company, to_ms(self._clock())])
            self._companies[name] = company
            return company

    def companies(self) -> list[Company]:
        """All of them."""
        with self._fresh():
            return list(self._companies.values())

    def namespaces(self, company_id: int, *, prefix: str = "") -> list[StoredNamespace]:
        """Those of the company whose names begin with `prefix`, by name."""
        with self._fresh():
            names = self._names.get(company_id, [])
            return [self._by_name[company_id, name] for name in names[_prefix_range(names, prefix)]]

    def namespaces_page(
        self, company_id: int, *, prefix: str = "", limit: int = MAX_PAGE, cursor: str | None = None
    ) -> NamespacePage:
        """As `namespaces`, at most `limit` of them, those after `cursor`.

        Args:
            limit: 1 to 1,000.
            cursor: the `next_cursor` of an earlier page; stays good when namespaces come and go.

        Raises:
            InvalidRequest: `limit` or `cursor` cannot be used.
        """
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidRequest(f"`limit` is 1 to {MAX_PAGE:,}.", path="limit")
        after = None if cursor is None else _decode_cursor(cursor)
        with self._fresh():
            names = self._names.get(company_id, [])
            chosen = _prefix_range(names, prefix)
            start = chosen.start if after is None else max(chosen.start, bisect_right(names, after))
            page = names[start : min(start + limit, chosen.stop)]
            more = start + limit < chosen.stop
            found = [self._by_name[company_id, name] for name in page]
            return NamespacePage(found, _encode_cursor(page[-1]) if more else None)

    def namespace(self, company_id: int, name: str) -> StoredNamespace:
        """One namespace of the company. Raises `NamespaceNotFound`."""
        with self._fresh():
            found = self._by_name.get((company_id, name))
        if found is None:
            raise NamespaceNotFound(name)
        return found

    def find(self, company_id: int, name: str) -> StoredNamespace | None:
        """As `namespace`, None where there is none."""
        with self._fresh():
            return self._by_name.get((company_id, name))

    def namespace_ids(self) -> set[int]:
        """Of all companies; a folder with another number is left over from a drop."""
        with self._fresh():
            return set(self._by_id)

    def create_namespace(
        self, company: Company, name: str, schema: Schema, *, embedder: str, dimension: int
    ) -> StoredNamespace:
        """A new namespace, or the one that another thread has just made under this name, unchanged.

        Args:
            name: already checked.
            embedder: name of the embedder whose vectors of length `dimension` will be stored.
        """
        with self._fresh():
            found = self._by_name.get((company.id, name))
            if found is not None:
                return found
            now = to_ms(self._clock())
            with self._writing() as cursor:
                number = _take_number(cursor, "next_namespace")
                cursor.execute(
                    "INSERT INTO namespaces VALUES ($1, $2, $3, $4, $5, $6, $7, $7)",
                    [number, company.id, name, _encode_schema(schema), embedder, dimension, now],
                )
            made = StoredNamespace(
                id=number,
                name=name,
                company_id=company.id,
                company_name=company.name,
                created_at=from_ms(now),
                updated_at=from_ms(now),
                schema=schema,
                embedder=embedder,
                dimension=dimension,
            )
            self._hold(made)
            return made

    def update_schema(self, namespace_id: int, schema: Schema) -> StoredNamespace:
        """Replace the schema; moves `updated_at`. Raises `NamespaceNotFound` when it was dropped meanwhile."""
        with self._fresh():
            found = self._require(namespace_id)
            moved = self._later(found)
            with self._writing() as cursor:
                cursor.execute(
                    "UPDATE namespaces SET schema = $2, updated_at = $3 WHERE id = $1",
                    [namespace_id, _encode_schema(schema), to_ms(moved)],
                )
            return self._replace(msgspec.structs.replace(found, schema=schema, updated_at=moved))

    def touch(self, namespace_id: int) -> StoredNamespace:
        """Move `updated_at`: strictly forward, even when the clock goes back. Raises `NamespaceNotFound`."""
        with self._fresh():
            found = self._require(namespace_id)
            moved = self._later(found)
            with self._writing() as cursor:
                cursor.execute("UPDATE namespaces SET updated_at = $2 WHERE id = $1", [namespace_id, to_ms(moved)])
            return self._replace(msgspec.structs.replace(found, updated_at=moved))

    def set_embedder(self, namespace_id: int, embedder: str, dimension: int) -> StoredNamespace:
        """Record that the namespace was embedded anew. Raises `NamespaceNotFound`."""
        with self._fresh():
            found = self._require(namespace_id)
            with self._writing() as cursor:
                cursor.execute(
                    "UPDATE namespaces SET embedder = $2, dimension = $3 WHERE id = $1",
                    [namespace_id, embedder, dimension],
                )
            return self._replace(msgspec.structs.replace(found, embedder=embedder, dimension=dimension))

    def drop_namespace(self, namespace_id: int) -> None:
        """Forget a namespace and its search sessions; its number is not given out again. Unknown ones are ignored.

        Its folder is the caller's to remove, after this: what a crash leaves behind is found by `namespace_ids`.
        """
        with self._fresh():
            found = self._by_id.get(namespace_id)
            if found is None:
                return
            with self._writing() as cursor:
                cursor.execute("DELETE FROM sessions WHERE namespace_id = $1", [namespace_id])
                cursor.execute("DELETE FROM namespaces WHERE id = $1", [namespace_id])
            del self._by_id[namespace_id]
            del self._by_name[found.company_id, found.name]
            self._names[found.company_id].remove(found.name)

    def _load(self) -> None:
        with self._file.read() as cursor:
            companies = cursor.execute("SELECT id, name FROM companies").fetchall()
            rows = cursor.execute("SELECT * FROM namespaces").fetchall()
        self._companies = {name: Company(number, name) for number, name in companies}
        names: dict[int, str] = dict(companies)
        self._by_id, self._by_name, self._names = {}, {}, {}
        schemas: dict[str, Schema] = {}
        for number, company_id, name, schema, embedder, dimension, created_at, updated_at in rows:
            # Namespaces of one company often share a schema; one object then serves them all.
            if schema not in schemas:
                schemas[schema] = msgspec.json.decode(schema, type=Schema)
            self._hold(
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
                )
            )

    def _require(self, namespace_id: int) -> StoredNamespace:
        found = self._by_id.get(namespace_id)
        if found is None:
            raise NamespaceNotFound(str(namespace_id))
        return found

    def _later(self, namespace: StoredNamespace) -> datetime:
        return from_ms(max(to_ms(self._clock()), to_ms(namespace.updated_at) + 1))

    def _hold(self, namespace: StoredNamespace) -> None:
        self._by_id[namespace.id] = namespace
        self._by_name[namespace.company_id, namespace.name] = namespace
        insort(self._names.setdefault(namespace.company_id, []), namespace.name)

    def _replace(self, namespace: StoredNamespace) -> StoredNamespace:
        self._by_id[namespace.id] = namespace
        self._by_name[namespace.company_id, namespace.name] = namespace
        return namespace


def _take_number(cursor: Cursor, counter: str) -> int:
    row = cursor.execute(f"SELECT {counter} FROM state").fetchone()  # noqa: S608 - a name of ours
    if row is None:
        raise StorageError("The catalog has lost its counters.")
    cursor.execute(f"UPDATE state SET {counter} = {counter} + 1")  # noqa: S608
    return int(row[0])


def _encode_schema(schema: Schema) -> str:
    return msgspec.json.encode(schema).decode()


def _prefix_range(names: list[str], prefix: str) -> slice:
    start = bisect_left(names, prefix)
    stop = bisect_right(names, prefix, lo=start, key=lambda name: name[: len(prefix)])
    return slice(start, stop)


def _encode_cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest("`cursor` is not one that a list of namespaces gave.", path="cursor") from error
