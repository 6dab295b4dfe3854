"""Writes to one namespace: each is one transaction that holds the namespace's row, so writers of all servers queue."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from pgvector import HalfVector

from engine.analysis.analyzer import DEFAULT_LANGUAGE, indexable, language_of, text_analyzer
from engine.backend.protocol import DocumentWrite, NamespaceSpec
from engine.errors import ConcurrentChange, NamespaceNotFound
from engine.model.document import PassageDraft
from engine.model.hits import Vectors
from engine.model.schema import AttributeType, Schema, TypedValue
from engine.model.values import typed_value
from engine.storage.documents import decode_body
from engine.store.postgres.catalog import decoded_schema
from engine.store.postgres.clock import NOW_MS
from engine.store.postgres.connection import Connection
from engine.store.postgres.passages import packed_terms
from engine.store.postgres.postings import AnalysedPassage, PostingRow, posting_rows
from engine.store.postgres.text import escaped, escaped_value

BACKFILL_ROWS = 2_000
_MOVED = f"updated_at = greatest({NOW_MS}, updated_at + 1)"
"""Strictly forward, even when the clock goes back."""


class State(NamedTuple):
    """A namespace's row."""

    part: int
    embedder: str
    dimension: int
    epoch: str
    schema: str | None
    searched: list[str] | None
    languages: dict[str, int]
    seq: int
    documents: int
    passages: int
    bytes: int
    next_key: int
    next_label: int
    indexed: int
    body_terms: int
    header_terms: int
    graph_upto: int
    compactions: int
    first_label: int

    def filterable(self) -> dict[str, AttributeType]:
        """Type of each attribute that a filter may name."""
        return {} if self.schema is None else filterable_of(decoded_schema(self.schema))


_COLUMNS = ", ".join(State._fields)


def read_state(connection: Connection, namespace: int, *, hold: bool = False) -> State:
    """The namespace's row; `hold` keeps every other writer waiting until the transaction ends.

    Raises:
        NamespaceNotFound: there is none.
    """
    end = "FOR UPDATE" if hold else ""
    query = f"SELECT {_COLUMNS} FROM quarry.namespaces WHERE namespace = %s {end}"
    row = connection.execute(query.encode(), [namespace]).fetchone()
    if row is None:
        raise NamespaceNotFound
    return State(*row)


def read_state_and(
    connection: Connection, namespace: int, expression: str, params: Sequence[object]
) -> tuple[State, Any]:
    """The namespace's row and the value of an SQL expression, in one statement. Raises as `read_state`."""
    query = f"SELECT {_COLUMNS}, {expression} FROM quarry.namespaces WHERE namespace = %s"
    row = connection.execute(query.encode(), [*params, namespace], binary=True).fetchone()
    if row is None:
        raise NamespaceNotFound
    return State(*row[:-1]), row[-1]


def upsert(
    connection: Connection,
    namespace: int,
    documents: Sequence[DocumentWrite],
    vectors: Vectors,
    schema: Schema | None,
    base: Schema | None,
) -> int:
    """Replace or insert `documents`; how many. See `Backend.upsert`."""
    state = read_state(connection, namespace, hold=True)
    check_base(state, base)
    if schema is not None:
        _fit(connection, namespace, state, schema)
    if state.documents:
        _remove(connection, namespace, state.part, _keys_of(connection, state.part, [d.id for d in documents]))
    return append(connection, namespace, state, documents, vectors)


def append(
    connection: Connection, namespace: int, state: State, documents: Sequence[DocumentWrite], vectors: Vectors
) -> int:
    """Insert `documents`, none of which is there; how many. The caller holds the namespace's row, as in `state`."""
    part = state.part
    keyed = list(enumerate(documents, state.next_key))
    with connection.cursor().copy(
        "COPY quarry.documents (part, key, id, root_id, body, attributes) FROM STDIN"
    ) as copy:
        for key, document in keyed:
            root = None if document.root_id is None else escaped(document.root_id)
            attributes = attributes_json(document.values)
            copy.write_row((part, key, document.id, root, document.body.decode(), attributes))
    drafts = [(key, document.id, draft) for key, document in keyed for draft in document.passages]
    spoken = [language_of(draft.text) for _, _, draft in drafts]
    _insert_passages(connection, part, drafts, spoken, vectors, state.next_label)
    rows, totals = posting_rows(_analysed(drafts, spoken, state.next_label))
    write_postings(connection, part, rows)
    connection.execute(
        (
            "UPDATE quarry.namespaces SET seq = seq + 1, writes = writes + 1, "
            "next_key = next_key + %s, next_label = next_label + %s, "
            "documents = documents + %s, passages = passages + %s, bytes = bytes + %s, "
            "indexed = indexed + %s, body_terms = body_terms + %s, header_terms = header_terms + %s, "
            f"languages = %s, {_MOVED} WHERE namespace = %s"
        ).encode(),
        [
            *(len(keyed), len(drafts)) * 2,
            sum(len(document.body) for document in documents),
            *totals,
            json.dumps(Counter(state.languages) + Counter(spoken)),
            namespace,
        ],
    )
    return len(keyed)


def begin_part(connection: Connection, spec: NamespaceSpec) -> None:
    """Give the namespace an empty part; its cursors begin anew, its labels go on. The caller holds its row."""
    connection.execute(
        "UPDATE quarry.namespaces SET part = nextval('quarry.numbers'), embedder = %s, dimension = %s, epoch = %s, "
        "schema = %s, searched = %s, languages = '{}', seq = seq + 1, documents = 0, passages = 0, bytes = 0, "
        "next_key = 0, first_label = next_label, indexed = 0, body_terms = 0, header_terms = 0, writes = 0, "
        "compacted = 0, graph_upto = 0, compactions = 0 WHERE namespace = %s",
        [
            spec.embedder,
            spec.dimension,
            secrets.token_hex(8),
            msgspec.json.encode(spec.schema).decode(),
            sorted(spec.schema.searchable()),
            spec.id,
        ],
    )


def delete(connection: Connection, namespace: int, *, ids: Sequence[str] | None, roots: Sequence[str] | None) -> int:
    """How many documents were removed; see `Backend.delete`."""
    part = read_state(connection, namespace, hold=True).part
    if roots is None:
        keys = _keys_of(connection, part, ids or [])
    else:
        wanted = [escaped(root) for root in roots]
        rows = connection.execute(
            "SELECT key FROM quarry.documents WHERE part = %s AND (id = ANY(%s) OR root_id = ANY(%s))",
            [part, wanted, wanted],
        )
        keys = [key for (key,) in rows]
    if keys:
        _remove(connection, namespace, part, keys)
        connection.execute(
            f"UPDATE quarry.namespaces SET seq = seq + 1, {_MOVED} WHERE namespace = %s".encode(),
            [namespace],
        )
    return len(keys)


def check_base(state: State, base: Schema | None) -> None:
    """Raises `ConcurrentChange` when the namespace has another schema than `base`; None does not ask."""
    if base is not None and state.schema is not None and decoded_schema(state.schema) != base:
        raise ConcurrentChange


def filterable_of(schema: Schema) -> dict[str, AttributeType]:
    """Type of each filterable attribute."""
    return {name: schema.attributes[name].type for name in schema.filterable()}


def _fit(connection: Connection, namespace: int, state: State, schema: Schema) -> None:
    """Store the schema, and bring the typed values of stored documents up to it."""
    held, wanted, part = state.filterable(), filterable_of(schema), state.part
    for name in held.keys() - wanted.keys():
        connection.execute(
            "UPDATE quarry.documents SET attributes = attributes - %s::text WHERE part = %s",
            [escaped(name), part],
        )
    added = {name: kind for name, kind in wanted.items() if held.get(name) is not kind}
    after = -1
    while added and (
        rows := connection.execute(
            "SELECT key, body FROM quarry.documents WHERE part = %s AND key > %s ORDER BY key LIMIT %s",
            [part, after, BACKFILL_ROWS],
        ).fetchall()
    ):
        for key, body in rows:
            document = decode_body(body)
            values = {name: typed_value(kind, document.get(name)) for name, kind in added.items()}
            fresh = attributes_json({name: value for name, value in values.items() if value is not None})
            connection.execute(
                "UPDATE quarry.documents SET attributes = attributes || %s WHERE part = %s AND key = %s",
                [fresh, part, key],
            )
        after = rows[-1][0]
    connection.execute(
        "UPDATE quarry.namespaces SET schema = %s, searched = %s WHERE namespace = %s",
        [msgspec.json.encode(schema).decode(), sorted(schema.searchable()), namespace],
    )


def attributes_json(values: Mapping[str, TypedValue]) -> str:
    """Typed values as the `attributes` column holds them."""
    return json.dumps({escaped(name): escaped_value(value) for name, value in values.items()})


def _keys_of(connection: Connection, part: int, ids: Sequence[str]) -> list[int]:
    rows = connection.execute("SELECT key FROM quarry.documents WHERE part = %s AND id = ANY(%s)", [part, list(ids)])
    return [key for (key,) in rows]


def _remove(connection: Connection, namespace: int, part: int, keys: Sequence[int]) -> None:
    # Postings stay until they are compacted; a passage that is gone is no candidate.
    if not keys:
        return
    held = [part, list(keys)]
    passages = connection.execute("DELETE FROM quarry.passages WHERE part = %s AND key = ANY(%s)", held).rowcount
    connection.execute(
        "WITH gone AS (DELETE FROM quarry.documents WHERE part = %s AND key = ANY(%s) "
        "RETURNING octet_length(body) AS n) "
        "UPDATE quarry.namespaces SET passages = passages - %s, documents = documents - (SELECT count(*) FROM gone), "
        "bytes = bytes - (SELECT coalesce(sum(n), 0) FROM gone) WHERE namespace = %s",
        [*held, passages, namespace],
    )


_Draft = tuple[int, str, PassageDraft]


def _insert_passages(
    connection: Connection,
    part: int,
    drafts: Sequence[_Draft],
    spoken: Sequence[str],
    vectors: Vectors,
    first_label: int,
) -> None:
    into = "(part, label, key, document_id, attribute, start_at, end_at, text, header, terms, embedding)"
    with connection.cursor().copy(f"COPY quarry.passages {into} FROM STDIN (FORMAT BINARY)") as copy:
        # As text, vectors and packed terms take several times as long.
        copy.set_types([*("int8",) * 3, "text", "text", "int4", "int4", "text", "text", "bytea", "halfvec"])
        for label, (key, document_id, draft) in enumerate(drafts, first_label):
            row: tuple[Any, ...] = (part, label, key, document_id, escaped(draft.attribute), draft.start, draft.end)
            terms = packed_terms(draft, spoken[label - first_label])
            vector = HalfVector(vectors[label - first_label])
            copy.write_row((*row, escaped(draft.text), escaped(draft.header), terms, vector))


def write_postings(connection: Connection, part: int, rows: Iterable[PostingRow]) -> None:
    """Insert rows of postings; their terms are not escaped yet."""
    into = "COPY quarry.postings (part, term, first_label, passages, postings) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(into) as copy:
        copy.set_types(["int8", "text", "int8", "int4", "bytea"])
        for term, first, passages, packed in rows:
            copy.write_row((part, escaped(term), first, passages, packed))


def _analysed(drafts: Iterable[_Draft], spoken: Sequence[str], first_label: int) -> Iterator[AnalysedPassage]:
    for label, ((_, _, draft), language) in enumerate(zip(drafts, spoken, strict=True), first_label):
        header = _terms(draft.header, language)
        yield AnalysedPassage(label, header, [*header, *_terms(draft.text, language)])


def _terms(text: str, language: str) -> list[str]:
    return text_analyzer(DEFAULT_LANGUAGE).analyze(indexable(text, language)) if text else []
