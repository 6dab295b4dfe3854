"""`PostgresBackend`: the documents of every namespace in one database, shared by any number of servers."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import msgspec

from engine.backend.cursors import PAGE_BYTES, decode_cursor, encode_cursor
from engine.backend.protocol import (
    Capabilities,
    DocumentPage,
    DocumentWrite,
    Extent,
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
from engine.model.schema import ORDERED_TYPES, Schema
from engine.ranking.passage_terms import PassageTerms
from engine.settings import VectorSettings
from engine.storage.documents import decode_body
from engine.store.postgres import writing
from engine.store.postgres.attributes import AllowedMemory, condition_of, extent_of, values_of
from engine.store.postgres.catalog import decoded_schema
from engine.store.postgres.clock import NOW_MS
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.graphs import drop_graphs
from engine.store.postgres.legs import Memories, run_legs
from engine.store.postgres.maintenance import clear_part, maintain, remove
from engine.store.postgres.passages import read_passages, terms_of
from engine.store.postgres.posting_memory import PostingMemory, StateGone
from engine.store.postgres.terms import Dictionary
from engine.store.postgres.vector_memory import VectorMemory
from engine.store.postgres.writing import State, read_state

RANDOM_THROWS = 8
STATES_KEPT = 10_000
_AT_KEY = "SELECT id, body FROM quarry.documents WHERE part = %s AND key = %s"


def _nothing() -> None:
    """No catalog to tell."""


class PostgresBackend:
    """Implements `engine.backend.protocol.Backend`.

    Args:
        settings: of the vector leg.
    """

    def __init__(self, pool: Pool, settings: VectorSettings) -> None:
        self._pool = pool
        self._settings = settings
        self._memories = Memories(PostingMemory(), VectorMemory(), AllowedMemory())
        self._known: dict[int, State] = {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(many_writers=True, backups=False)

    def create(self, spec: NamespaceSpec) -> None:
        schema = msgspec.json.encode(spec.schema).decode()

        def work(connection: Connection) -> None:
            made = connection.execute(
                (
                    "INSERT INTO quarry.namespaces "
                    "(namespace, part, embedder, dimension, epoch, schema, created_at, updated_at) "
                    f"SELECT %s, nextval('quarry.numbers'), %s, %s, %s, %s, now_ms, now_ms "
                    f"FROM (SELECT {NOW_MS} AS now_ms) AS clock ON CONFLICT DO NOTHING"
                ).encode(),
                [spec.id, spec.embedder, spec.dimension, secrets.token_hex(8), schema],
            )
            if made.rowcount == 0:
                raise StorageError("A namespace of that number exists already.")

        self._pool.written(work)

    def exists(self, namespace: int) -> bool:
        asked = "SELECT 1 FROM quarry.namespaces WHERE namespace = %s"
        return self._pool.read(lambda connection: connection.execute(asked, [namespace]).fetchone()) is not None

    def confirm(self, namespace: int) -> None:
        """Its name in the catalog is all that it takes."""

    def drop(self, namespace: int, forget: Callable[[], None] = _nothing) -> None:
        forget()
        try:
            remove(self._pool, namespace)
        except StorageError:
            if self.exists(namespace):
                raise
            # Only its graph is still there; `sweep` takes it away.

    def upsert(
        self,
        namespace: int,
        documents: list[DocumentWrite],
        vectors: Vectors,
        schema: Schema | None = None,
        *,
        base: Schema | None = None,
    ) -> int:
        if (passages := sum(len(document.passages) for document in documents)) != len(vectors):
            raise ValueError(f"{passages} passages but {len(vectors)} vectors")
        return self._pool.written(
            lambda connection: writing.upsert(connection, namespace, documents, vectors, schema, base)
        )

    def replace_all(
        self,
        spec: NamespaceSpec,
        batches: Iterator[tuple[list[DocumentWrite], Vectors]],
        *,
        base: Schema | None = None,
    ) -> int:
        # One transaction into a part of its own: until it commits, everyone reads the old part.
        with self._pool.writing() as connection:
            old = read_state(connection, spec.id, hold=True)
            writing.check_base(old, base)
            writing.begin_part(connection, spec)
            done = sum(
                writing.upsert(connection, spec.id, documents, vectors, None, None) for documents, vectors in batches
            )
            clear_part(connection, old.part)
        if old.graph_upto:
            # What is left of it is taken away by `sweep`.
            with suppress(StorageError):
                drop_graphs(self._pool, old.part)
        return done

    def delete(self, namespace: int, *, ids: Sequence[str] | None = None, roots: Sequence[str] | None = None) -> int:
        return self._pool.written(lambda connection: writing.delete(connection, namespace, ids=ids, roots=roots))

    def get(self, namespace: int, ids: Sequence[str], *, where: CheckedFilter | None = None) -> list[StoredDocument]:
        with self._pool.reading() as connection:
            part = read_state(connection, namespace).part
            condition = condition_of(connection, part, where)
            rows = connection.execute(
                (
                    "SELECT d.id, d.body FROM quarry.documents d "
                    f"WHERE d.part = %s AND d.id = ANY(%s) AND {condition.sql}"
                ).encode(),
                [part, list(ids), *condition.params],
            )
            found = {document_id: decode_body(body) for document_id, body in rows}
        return [StoredDocument(document_id, found[document_id]) for document_id in ids if document_id in found]

    def random(self, namespace: int) -> StoredDocument | None:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            if not state.documents:
                return None
            # Keys have gaps where documents went; a few throws nearly always hit, and the order of keys is no order.
            for at in random.choices(range(state.next_key), k=RANDOM_THROWS):  # noqa: S311 - no secret
                row = connection.execute(_AT_KEY, [state.part, at]).fetchone()
                if row is not None:
                    return StoredDocument(row[0], decode_body(row[1]))
            row = connection.execute(
                "SELECT id, body FROM quarry.documents WHERE part = %s ORDER BY random() LIMIT 1", [state.part]
            ).fetchone()
        return None if row is None else StoredDocument(row[0], decode_body(row[1]))

    def legs(self, namespace: int, query: LegsQuery) -> Legs:
        known = self._known.get(namespace)
        legs, state = run_legs(self._pool, known, namespace, query, self._settings, self._memories)
        self._remember(namespace, state)
        return legs

    def rarity(self, namespace: int, text: str) -> dict[str, float]:
        state = self._pool.read(lambda connection: read_state(connection, namespace))
        self._remember(namespace, state)
        with suppress(StateGone):
            return Dictionary(self._pool, state, self._memories.postings).question_rarity(text)
        with self._pool.snapshot() as connection:
            state = read_state(connection, namespace)
            return Dictionary(self._pool, state, self._memories.postings).question_rarity(text)

    def _remember(self, namespace: int, state: State) -> None:
        if len(self._known) >= STATES_KEPT:
            self._known.clear()
        self._known[namespace] = state

    def hydrate(self, namespace: int, labels: Labels) -> list[Passage]:
        wanted: list[int] = labels.tolist()
        if not wanted:
            return []
        held = self._held(namespace, labels)
        return [held[label][0] for label in wanted if label in held]

    def passage_terms(self, namespace: int, labels: Labels) -> PassageTerms:
        held = self._held(namespace, labels)
        return terms_of([held[label] for label in labels.tolist() if label in held])

    def _held(self, namespace: int, labels: Labels) -> dict[int, tuple[Passage, bytes]]:
        return self._pool.read(lambda connection: read_passages(connection, namespace, labels))

    @contextmanager
    def reading(self, namespace: int) -> Generator[None]:
        with self._pool.snapshot() as connection:
            read_state(connection, namespace)
            yield

    def count(self, namespace: int, where: CheckedFilter | None = None) -> int:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            if where is None:
                return state.documents
            condition = condition_of(connection, state.part, where)
            row = connection.execute(
                f"SELECT count(*) FROM quarry.documents d WHERE d.part = %s AND {condition.sql}".encode(),
                [state.part, *condition.params],
            ).fetchone()
        return int(row[0]) if row else 0

    def scan(self, namespace: int, *, batch: int = 1000) -> Iterator[list[StoredDocument]]:
        with self._pool.reading_apart() as connection:
            part = read_state(connection, namespace).part
            after = -1
            while rows := connection.execute(
                "SELECT key, id, body FROM quarry.documents WHERE part = %s AND key > %s ORDER BY key LIMIT %s",
                [part, after, batch],
            ).fetchall():
                yield [StoredDocument(document_id, decode_body(body)) for _, document_id, body in rows]
                after = rows[-1][0]

    def page(
        self, namespace: int, *, where: CheckedFilter | None = None, limit: int = 100, cursor: str | None = None
    ) -> DocumentPage:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            after = -1 if cursor is None else decode_cursor(cursor, state.epoch)
            condition = condition_of(connection, state.part, where)
            rows = connection.execute(
                (
                    "SELECT d.key, d.id, d.body FROM quarry.documents d "
                    f"WHERE d.part = %s AND d.key > %s AND {condition.sql} ORDER BY d.key LIMIT %s"
                ).encode(),
                [state.part, after, *condition.params, limit + 1],
            ).fetchall()
        shown, size = rows[:1], len(rows[0][2]) if rows else 0
        for row in rows[1:limit]:
            size += len(row[2])
            if size > PAGE_BYTES:
                break
            shown.append(row)
        following = encode_cursor(state.epoch, shown[-1][0]) if len(shown) < len(rows) else None
        return DocumentPage(
            [StoredDocument(document_id, decode_body(body)) for _, document_id, body in shown], following
        )

    def values(
        self, namespace: int, attribute: str, *, where: CheckedFilter | None = None, limit: int = 10_000
    ) -> list[tuple[JsonValue, int]]:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            kind = state.filterable().get(attribute)
            if kind is None:
                return []
            return values_of(connection, state.part, attribute, kind, where, limit)

    def extent(self, namespace: int, attribute: str, *, where: CheckedFilter | None = None) -> Extent | None:
        with self._pool.reading() as connection:
            state = read_state(connection, namespace)
            kind = state.filterable().get(attribute)
            if kind is None or kind.element not in ORDERED_TYPES:
                return None
            return extent_of(connection, state.part, attribute, kind, where)

    def state(self, namespace: int) -> NamespaceState:
        held = self._pool.read(lambda connection: read_state(connection, namespace))
        return NamespaceState(
            seq=held.seq,
            schema=None if held.schema is None else decoded_schema(held.schema),
            embedder=held.embedder,
            dimension=held.dimension,
            documents=held.documents,
            passages=held.passages,
            storage_bytes=held.bytes,
        )

    def searched(self, namespace: int) -> tuple[str, ...] | None:
        held = self._pool.read(lambda connection: read_state(connection, namespace)).searched
        return None if held is None else tuple(held)

    def generation(self, namespace: int) -> int:
        return self._pool.read(lambda connection: read_state(connection, namespace)).seq

    def languages(self, namespace: int) -> Mapping[str, int]:
        with self._pool.reading() as connection:
            return read_state(connection, namespace).languages

    def maintain(self, namespace: int) -> None:
        maintain(self._pool, namespace, self._settings)

    def close(self) -> None:
        self._pool.close()
