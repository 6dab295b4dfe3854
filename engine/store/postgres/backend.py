"""`PostgresBackend`: the documents of every namespace in one database, shared by any number of servers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from psycopg import sql

from engine.backend.cursors import PAGE_BYTES, decode_cursor, encode_cursor
from engine.backend.protocol import (
    Capabilities,
    DocumentPage,
    DocumentWrite,
    Legs,
    LegsQuery,
    NamespaceSpec,
    StoredDocument,
)
from engine.errors import StorageError
from engine.filters.check import CheckedFilter
from engine.model.document import JsonValue, Passage
from engine.model.hits import Labels, Vectors
from engine.model.namespace import NamespaceState
from engine.model.schema import AttributeType, Schema
from engine.ranking.passage_terms import PassageTerms
from engine.storage.documents import decode_body
from engine.store.postgres import writing
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.filters import Condition, compile_condition
from engine.store.postgres.legs import run_legs
from engine.store.postgres.maintenance import drop_graph, maintain
from engine.store.postgres.migrate import migrate
from engine.store.postgres.terms import question_rarity
from engine.store.postgres.text import escaped, unescaped, unescaped_scalar
from engine.store.postgres.writing import read_state


def _nothing() -> None:
    """No catalog to tell."""


class PostgresBackend:
    """Implements `engine.backend.protocol.Backend`.

    Args:
        dsn: as libpq has it, ``postgresql://…``.
    """

    def __init__(self, dsn: str) -> None:
        migrate(dsn)
        self._pool = Pool(dsn)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(many_writers=True)

    def create(self, spec: NamespaceSpec) -> None:
        schema = msgspec.json.encode(spec.schema).decode()

        def work(connection: Connection) -> None:
            made = connection.execute(
                "INSERT INTO quarry.namespaces (namespace, embedder, dimension, epoch, schema) "
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [spec.id, spec.embedder, spec.dimension, secrets.token_hex(8), schema],
            )
            if made.rowcount == 0:
                raise StorageError("A namespace of that number exists already.")

        self._pool.written(work)

    def confirm(self, namespace: int) -> None:
        self._pool.written(
            lambda connection: connection.execute(
                "UPDATE quarry.namespaces SET pending = false WHERE namespace = %s", [namespace]
            )
        )

    def drop(self, namespace: int, forget: Callable[[], None] = _nothing) -> None:
        forget()

        def work(connection: Connection) -> None:
            drop_graph(connection, namespace)
            for table in ("postings", "passages", "documents", "namespaces"):
                connection.execute(
                    sql.SQL("DELETE FROM quarry.{} WHERE namespace = %s").format(sql.Identifier(table)), [namespace]
                )

        self._pool.written(work)

    def upsert(
        self, namespace: int, documents: list[DocumentWrite], vectors: Vectors, schema: Schema | None = None
    ) -> int:
        if (passages := sum(len(document.passages) for document in documents)) != len(vectors):
            raise ValueError(f"{passages} passages but {len(vectors)} vectors")
        return self._pool.written(lambda connection: writing.upsert(connection, namespace, documents, vectors, schema))

    def delete(self, namespace: int, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
        return self._pool.written(lambda connection: writing.delete(connection, namespace, ids=ids, roots=roots))

    def get(self, namespace: int, ids: Sequence[str], *, where: CheckedFilter | None = None) -> list[StoredDocument]:
        with self._pool.reading() as connection:
            read_state(connection, namespace)
            condition = self._condition(connection, namespace, where)
            rows = connection.execute(
                (
                    "SELECT d.id, d.body FROM quarry.documents d "  # noqa: S608 - compiled
                    f"WHERE d.namespace = %s AND d.id = ANY(%s) AND {condition.sql}"
                ).encode(),
                [namespace, list(ids), *condition.params],
            )
            found = {document_id: decode_body(body) for document_id, body in rows}
        return [StoredDocument(document_id, found[document_id]) for document_id in ids if document_id in found]

    def random(self, namespace: int) -> StoredDocument | None:
        """One document at random; None when there is none."""
        with self._pool.reading() as connection:
            row = connection.execute(
                "SELECT id, body FROM quarry.documents WHERE namespace = %s ORDER BY random() LIMIT 1", [namespace]
            ).fetchone()
        return None if row is None else StoredDocument(row[0], decode_body(row[1]))

    def legs(self, namespace: int, query: LegsQuery) -> Legs:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            where = None if query.where is None else self._condition(connection, namespace, query.where)
            return run_legs(connection, namespace, state, query, where)

    def rarity(self, namespace: int, text: str) -> dict[str, float]:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            return question_rarity(connection, namespace, text, state.languages, state.indexed)

    def hydrate(self, namespace: int, labels: Labels) -> list[Passage]:
        wanted: list[int] = labels.tolist()
        if not wanted:
            return []
        with self._pool.reading() as connection:
            rows = connection.execute(
                "SELECT label, document_id, attribute, start_at, end_at, text, header FROM quarry.passages "
                "WHERE namespace = %s AND label = ANY(%s)",
                [namespace, wanted],
            )
            found = {
                label: Passage(
                    label=label,
                    document_id=document_id,
                    attribute=unescaped(attribute),
                    start=start,
                    end=end,
                    text=unescaped(text),
                    header=unescaped(header),
                )
                for label, document_id, attribute, start, end, text, header in rows
            }
        return [found[label] for label in wanted if label in found]

    def passage_terms(self, namespace: int, labels: Labels) -> PassageTerms:
        return PassageTerms.of(self.hydrate(namespace, labels))

    @contextmanager
    def reading(self, namespace: int) -> Generator[None]:
        with self._pool.writing() as connection:
            read_state(connection, namespace, hold=True)
            yield

    def count(self, namespace: int, where: CheckedFilter | None = None) -> int:
        with self._pool.reading() as connection:
            read_state(connection, namespace)
            condition = self._condition(connection, namespace, where)
            row = connection.execute(
                (f"SELECT count(*) FROM quarry.documents d WHERE d.namespace = %s AND {condition.sql}").encode(),  # noqa: S608
                [namespace, *condition.params],
            ).fetchone()
        return int(row[0]) if row else 0

    def scan(self, namespace: int, *, batch: int = 1000) -> Iterator[list[StoredDocument]]:
        with self._pool.reading() as connection:
            after = -1
            while rows := connection.execute(
                "SELECT key, id, body FROM quarry.documents WHERE namespace = %s AND key > %s ORDER BY key LIMIT %s",
                [namespace, after, batch],
            ).fetchall():
                yield [StoredDocument(document_id, decode_body(body)) for _, document_id, body in rows]
                after = rows[-1][0]

    def page(
        self, namespace: int, *, where: CheckedFilter | None = None, limit: int = 100, cursor: str | None = None
    ) -> DocumentPage:
        with self._pool.reading() as connection:
            epoch = read_state(connection, namespace).epoch
            after = -1 if cursor is None else decode_cursor(cursor, epoch)
            condition = self._condition(connection, namespace, where)
            rows = connection.execute(
                (
                    "SELECT d.key, d.id, d.body FROM quarry.documents d "  # noqa: S608 - compiled
                    f"WHERE d.namespace = %s AND d.key > %s AND {condition.sql} ORDER BY d.key LIMIT %s"
                ).encode(),
                [namespace, after, *condition.params, limit + 1],
            ).fetchall()
        shown, size = rows[:1], len(rows[0][2]) if rows else 0
        for row in rows[1:limit]:
            size += len(row[2])
            if size > PAGE_BYTES:
                break
            shown.append(row)
        following = encode_cursor(epoch, shown[-1][0]) if len(shown) < len(rows) else None
        return DocumentPage(
            [StoredDocument(document_id, decode_body(body)) for _, document_id, body in shown], following
        )

    def values(
        self, namespace: int, attribute: str, *, where: CheckedFilter | None = None, limit: int = 10_000
    ) -> list[tuple[JsonValue, int]]:
        with self._pool.reading() as connection:
            kind = read_state(connection, namespace).filterable().get(attribute)
            if kind is None:
                return []
            condition = self._condition(connection, namespace, where)
            name = escaped(attribute)
            held = (
                "(SELECT DISTINCT e FROM jsonb_array_elements_text(d.attributes -> %s) e)"
                if kind.is_list
                else "(SELECT d.attributes ->> %s AS e)"
            )
            order = 'e COLLATE "C"' if kind.element in {AttributeType.STRING, AttributeType.UUID} else "length(e), e"
            rows = connection.execute(
                (
                    f"SELECT e, count(*) FROM quarry.documents d, LATERAL {held} AS elements(e) "  # noqa: S608
                    f"WHERE d.namespace = %s AND e IS NOT NULL AND {condition.sql} "
                    f"GROUP BY e ORDER BY count(*) DESC, {order} LIMIT %s"
                ).encode(),
                [name, namespace, *condition.params, limit],
            ).fetchall()
        return [(unescaped_scalar(kind, value), count) for value, count in rows]

    def state(self, namespace: int) -> NamespaceState:
        with self._pool.reading() as connection:
            held = read_state(connection, namespace)
            row = connection.execute(
                "SELECT (SELECT count(*) FROM quarry.documents WHERE namespace = %s), "
                "(SELECT count(*) FROM quarry.passages WHERE namespace = %s), "
                "(SELECT coalesce(sum(octet_length(body)), 0) FROM quarry.documents WHERE namespace = %s)",
                [namespace] * 3,
            ).fetchone()
        documents, passages, size = row or (0, 0, 0)
        return NamespaceState(
            seq=held.seq,
            schema=None if held.schema is None else msgspec.json.decode(held.schema, type=Schema),
            embedder=held.embedder,
            dimension=held.dimension,
            documents=documents,
            passages=passages,
            storage_bytes=int(size),
        )

    def languages(self, namespace: int) -> Mapping[str, int]:
        with self._pool.reading() as connection:
            return read_state(connection, namespace).languages

    def maintain(self, namespace: int) -> None:
        self._pool.written(lambda connection: maintain(connection, namespace))

    def close(self) -> None:
        self._pool.close()

    def _condition(self, connection: Connection, namespace: int, where: CheckedFilter | None) -> Condition:
        if where is None:
            return Condition("true")
        return compile_condition(where, lambda attribute: _strings(connection, namespace, attribute))


def _strings(connection: Connection, namespace: int, attribute: str) -> list[str]:
    if attribute == "id":
        rows = connection.execute("SELECT id FROM quarry.documents WHERE namespace = %s", [namespace])
    else:
        rows = connection.execute(
            "SELECT DISTINCT e FROM quarry.documents d, LATERAL (SELECT jsonb_array_elements_text(CASE "
            "jsonb_typeof(d.attributes -> %s) WHEN 'array' THEN d.attributes -> %s "
            "ELSE jsonb_build_array(d.attributes -> %s) END)) AS elements(e) "
            "WHERE d.namespace = %s AND d.attributes ? %s",
            [escaped(attribute)] * 3 + [namespace, escaped(attribute)],
        )
    return [unescaped(value) for (value,) in rows if value is not None]
