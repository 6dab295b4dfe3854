"""One query against one snapshot: the filter to its allowed set, then both legs."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from time import perf_counter

from engine.backend.embedded.snapshot import Snapshot
from engine.backend.embedded.store import NamespaceStore
from engine.backend.protocol import Legs, LegsQuery
from engine.filters.check import CheckedFilter
from engine.filters.sql import compile_filter
from engine.model.hits import Candidates, Labels, Vectors
from engine.ranking.terms import QueryTerms
from engine.storage.attributes import matching_keys

ATTEMPTS = 4
BESIDE_FROM = 20_000
"""Passages from which the two legs run side by side: below, each takes less than half a millisecond."""


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
    beside = _beside(snapshot, query, allowed) if query.lexical is not None else None
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
        vector, took_s["vector"] = (
            beside.result() if beside is not None else _nearest(snapshot, query.vector, query.k, allowed)
        )
    return Legs(
        lexical=lexical,
        vector=vector,
        generation=snapshot.seq,
        allowed=-1 if allowed is None else len(allowed),
        terms=terms,
        took_s=took_s,
    )


def _nearest(snapshot: Snapshot, vector: Vectors, k: int, allowed: Labels | None) -> tuple[Candidates, float]:
    """The vector leg, and its seconds."""
    begin = perf_counter()
    return snapshot.vectors.search(vector, k, allowed=allowed), perf_counter() - begin


_busy = threading.Semaphore(1)


def _beside(snapshot: Snapshot, query: LegsQuery, allowed: Labels | None) -> Future[tuple[Candidates, float]] | None:
    """The vector leg on a thread of its own, while this one looks for words; None where that gains nothing.

    Both legs leave the interpreter to others most of their time. One query at a time does so: with several under way
    the cores have work already, and handing over costs 0.1 ms.
    """
    vector = query.vector
    if vector is None or len(snapshot.labels) < BESIDE_FROM or not _busy.acquire(blocking=False):
        return None
    try:
        done = _thread().submit(_nearest, snapshot, vector, query.k, allowed)
    except RuntimeError:
        # The interpreter is shutting down.
        _busy.release()
        return None
    done.add_done_callback(lambda _: _busy.release())
    return done


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="vector leg")
