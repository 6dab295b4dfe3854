"""One query against one snapshot: the filter to its allowed set, then both legs."""

from __future__ import annotations

from time import perf_counter

from engine.backend.embedded.snapshot import Snapshot
from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import Legs, LegsQuery
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.model.hits import Candidates, Labels
from engine.ranking.terms import QueryTerms
from engine.storage.attributes import matching_keys

ATTEMPTS = 4


def run_legs(store: NamespaceStore, query: LegsQuery) -> Legs:
    """Candidates of both legs, all of one state of the namespace.

    A filter is answered by the database and the legs by the snapshot; a write between the two could mix states, so the
    query runs again when one was committed meanwhile, and holds writers back at the last attempt.
    """
    if query.where is None:
        return _search(store.snapshot, query, None, {})
    begin = perf_counter()
    for _ in range(ATTEMPTS):
        snapshot = store.snapshot
        allowed = allowed_labels(store, snapshot, query.where)
        if store.committed_seq == snapshot.seq:
            return _search(snapshot, query, allowed, {"filter": perf_counter() - begin})
    with store.write_lock:
        snapshot = store.snapshot
        allowed = allowed_labels(store, snapshot, query.where)
        return _search(snapshot, query, allowed, {"filter": perf_counter() - begin})


def allowed_labels(store: NamespaceStore, snapshot: Snapshot, where: CheckedFilter) -> Labels:
    """Labels of the passages whose document satisfies `where`, strictly increasing."""
    predicate = compile_filter(where, store.columns.sql_names())
    # Parameters may be lists, which have no hash; their text also tells 1 from 1.0 and True.
    question = (predicate.sql, repr(predicate.params))
    known = snapshot.allowed_sets.get(question)
    if known is not None:
        return known
    with store.reading() as cursor:
        keys = matching_keys(cursor, predicate)
    allowed = snapshot.labels_of(keys)
    if store.committed_seq == snapshot.seq:
        snapshot.remember(question, allowed)
    return allowed


def _search(snapshot: Snapshot, query: LegsQuery, allowed: Labels | None, took_s: dict[str, float]) -> Legs:
    lexical = vector = Candidates.empty()
    terms = QueryTerms.empty()
    if query.lexical is not None:
        begin = perf_counter()
        if query.lexical.headers_only:
            lexical = snapshot.lexical.search_headers(query.lexical.text, query.k, allowed=allowed)
        else:
            terms = snapshot.lexical.terms(query.lexical.text)
            lexical = snapshot.lexical.search_terms(
                terms, query.k, header_weight=query.lexical.header_weight, allowed=allowed
            )
        took_s["lexical"] = perf_counter() - begin
    if query.vector is not None:
        begin = perf_counter()
        vector = snapshot.vectors.search(query.vector, query.k, allowed=allowed)
        took_s["vector"] = perf_counter() - begin
    return Legs(
        lexical=lexical,
        vector=vector,
        generation=snapshot.seq,
        allowed=-1 if allowed is None else len(allowed),
        terms=terms,
        took_s=took_s,
    )
