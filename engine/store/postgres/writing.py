"""Writes to one namespace: each is one transaction that holds the namespace's row, so writers of all servers queue."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from pgvector import HalfVector
from psycopg import sql

from engine.analysis.analyzer import DEFAULT_LANGUAGE, indexable, language_of, text_analyzer
from engine.backend.protocol import DocumentWrite
from engine.errors import NamespaceNotFound
from engine.model.document import PassageDraft
from engine.model.hits import Vectors
from engine.model.schema import AttributeType, Schema, TypedValue
from engine.model.values import typed_value
from engine.storage.documents import decode_body
from engine.store.postgres.connection import Connection
from engine.store.postgres.postings import AnalysedPassage, posting_rows
from engine.store.postgres.text import escaped, escaped_value

BACKFILL_ROWS = 2_000


class State(NamedTuple):
    """A namespace's row."""

    embedder: str
    dimension: int
    epoch: str
    schema: str | None
    searched: list[str] | None
    languages: dict[str, int]
    seq: int
    next_key: int
    next_label: int
    indexed: int
    body_terms: int
    header_terms: int
    has_graph: bool

    def filterable(self) -> dict[str, AttributeType]:
        """Type of each attribute that a filter may name."""
        return {} if self.schema is None else filterable_of(msgspec.json.decode(self.schema, type=Schema))


_COLUMNS = sql.SQL(", ").join(map(sql.Identifier, State._fields))


def read_state(connection: Connection, namespace: int, *, hold: bool = False) -> State:
    """The namespace's row; `hold` keeps every other writer waiting until the transaction ends.

    Raises:
        NamespaceNotFound: there is none.
    """
    query = sql.SQL("SELECT {} FROM quarry.namespaces WHERE namespace = %s {}").format(
        _COLUMNS, sql.SQL("FOR UPDATE" if hold else "")
    )
    row = connection.execute(query, [namespace]).fetchone()
    if row is None:
        raise NamespaceNotFound
    return State(*row)


def upsert(
    connection: Connection,
    namespace: int,
    documents: Sequence[DocumentWrite],
    vectors: Vectors,
    schema: Schema | None,
) -> int:
    """Replace or insert `documents`; how many. See `Backend.upsert`."""
    state = read_state(connection, namespace, hold=True)
    if schema is not None:
        _fit(connection, namespace, state, schema)
    _remove(connection, namespace, _keys_of(connection, namespace, [d.id for d in documents]))
    keyed = list(enumerate(documents, state.next_key))
    with connection.cursor().copy(
        "COPY quarry.documents (namespace, key, id, root_id, body, attributes) FROM STDIN"
    ) as copy:
        for key, document in keyed:
            root = None if document.root_id is None else escaped(document.root_id)
            attributes = attributes_json(document.values)
            copy.write_row((namespace, key, document.id, root, document.body.decode(), attributes))
    drafts = [(key, document.id, draft) for key, document in keyed for draft in document.passages]
    _insert_passages(connection, namespace, drafts, vectors, state.next_label)
    languages, analysed = _analysed(drafts, state.next_label)
    rows, totals = posting_rows(analysed)
    with connection.cursor().copy(
        "COPY quarry.postings (namespace, term, first_label, passages, postings) FROM STDIN"
    ) as copy:
        for term, first, passages, packed in rows:
            copy.write_row((namespace, escaped(term), first, passages, packed))
    connection.execute(
        "UPDATE quarry.namespaces SET seq = seq + 1, next_key = next_key + %s, next_label = next_label + %s, "
        "indexed = indexed + %s, body_terms = body_terms + %s, header_terms = header_terms + %s, "
        "languages = %s WHERE namespace = %s",
        [len(keyed), len(drafts), *totals, json.dumps(Counter(state.languages) + languages), namespace],
    )
    return len(keyed)


def delete(connection: Connection, namespace: int, *, ids: Sequence[str] | None, roots: Sequence[str] | None) -> int:
    """How many documents were removed; see `Backend.delete`."""
    read_state(connection, namespace, hold=True)
    if roots is None:
        keys = _keys_of(connection, namespace, ids or [])
    else:
        wanted = [escaped(root) for root in roots]
        rows = connection.execute(
            "SELECT key FROM quarry.documents WHERE namespace = %s AND (id = ANY(%s) OR root_id = ANY(%s))",
            [namespace, wanted, wanted],
        )
        keys = [key for (key,) in rows]
    if keys:
        _remove(connection, namespace, keys)
        connection.execute("UPDATE quarry.namespaces SET seq = seq + 1 WHERE namespace = %s", [namespace])
    return len(keys)


def filterable_of(schema: Schema) -> dict[str, AttributeType]:
    """Type of each filterable attribute."""
    return {name: schema.attributes[name].type for name in schema.filterable()}


def _fit(connection: Connection, namespace: int, state: State, schema: Schema) -> None:
    """Store the schema, and bring the typed values of stored documents up to it."""
    held, wanted = state.filterable(), filterable_of(schema)
    for name in held.keys() - wanted.keys():
        connection.execute(
            "UPDATE quarry.documents SET attributes = attributes - %s::text WHERE namespace = %s",
            [escaped(name), namespace],
        )
    added = {name: kind for name, kind in wanted.items() if held.get(name) is not kind}
    after = -1
    while added and (
        rows := connection.execute(
            "SELECT key, body FROM quarry.documents WHERE namespace = %s AND key > %s ORDER BY key LIMIT %s",
            [namespace, after, BACKFILL_ROWS],
        ).fetchall()
    ):
        for key, body in rows:
            document = decode_body(body)
            values = {name: typed_value(kind, document.get(name)) for name, kind in added.items()}
            fresh = attributes_json({name: value for name, value in values.items() if value is not None})
            connection.execute(
                "UPDATE quarry.documents SET attributes = attributes || %s WHERE namespace = %s AND key = %s",
                [fresh, namespace, key],
            )
        after = rows[-1][0]
    connection.execute(
        "UPDATE quarry.namespaces SET schema = %s, searched = %s WHERE namespace = %s",
        [msgspec.json.encode(schema).decode(), sorted(schema.searchable()), namespace],
    )


def attributes_json(values: Mapping[str, TypedValue]) -> str:
    """Typed values as the `attributes` column holds them."""
    return json.dumps({escaped(name): escaped_value(value) for name, value in values.items()})


def _keys_of(connection: Connection, namespace: int, ids: Sequence[str]) -> list[int]:
    rows = connection.execute(
        "SELECT key FROM quarry.documents WHERE namespace = %s AND id = ANY(%s)", [namespace, list(ids)]
    )
    return [key for (key,) in rows]


def _remove(connection: Connection, namespace: int, keys: Sequence[int]) -> None:
    # Postings stay until they are compacted; a passage that is gone is no candidate.
    for table in ("quarry.passages", "quarry.documents"):
        connection.execute(f"DELETE FROM {table} WHERE namespace = %s AND key = ANY(%s)", [namespace, list(keys)])  # noqa: S608


_Draft = tuple[int, str, PassageDraft]


def _insert_passages(
    connection: Connection, namespace: int, drafts: Sequence[_Draft], vectors: Vectors, first_label: int
) -> None:
    into = "(namespace, label, key, document_id, attribute, start_at, end_at, text, header, embedding)"
    with connection.cursor().copy(f"COPY quarry.passages {into} FROM STDIN") as copy:
        for label, ((key, document_id, draft), vector) in enumerate(zip(drafts, vectors, strict=True), first_label):
            text, header = escaped(draft.text), escaped(draft.header)
            row: tuple[Any, ...] = (namespace, label, key, document_id, escaped(draft.attribute))
            copy.write_row((*row, draft.start, draft.end, text, header, HalfVector(vector)))


def _analysed(drafts: Iterable[_Draft], first_label: int) -> tuple[Counter[str], list[AnalysedPassage]]:
    languages: Counter[str] = Counter()
    analysed: list[AnalysedPassage] = []
    for label, (_, _, draft) in enumerate(drafts, first_label):
        language = language_of(draft.text)
        languages[language] += 1
        header = _terms(draft.header, language)
        analysed.append(AnalysedPassage(label, header, [*header, *_terms(draft.text, language)]))
    return languages, analysed


def _terms(text: str, language: str) -> list[str]:
    return text_analyzer(DEFAULT_LANGUAGE).analyze(indexable(text, language)) if text else []
