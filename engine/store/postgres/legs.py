"""Both legs of one query, read in one state of the namespace."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np

from engine.backend.protocol import Legs, LegsQuery, LexicalTerms
from engine.lexical.reader import (
    COMMON_FROM,
    COMMON_HEADERS,
    COMMON_SHARE,
    COMMON_STOP_SHARE,
    MAX_NAMING_TERMS,
)
from engine.model.hits import Candidates, Labels, top_k
from engine.ranking.terms import QueryTerms
from engine.settings import VectorSettings
from engine.store.postgres.attributes import AllowedMemory
from engine.store.postgres.connection import EF_SEARCH, Connection, Pool
from engine.store.postgres.posting_memory import PostingMemory, StateGone
from engine.store.postgres.postings import Found, Totals, summed
from engine.store.postgres.terms import Dictionary
from engine.store.postgres.text import array_of
from engine.store.postgres.vector_memory import VectorMemory
from engine.store.postgres.vectors import VectorLeg, graph_statement, unpacked
from engine.store.postgres.writing import State, read_state, read_state_and

CHECKED_AT_ONCE = 256

Ask: TypeAlias = Callable[[Labels], Labels]
"""The live ones among some passages."""


class Memories(NamedTuple):
    """What a server remembers of the database."""

    postings: PostingMemory
    vectors: VectorMemory
    allowed: AllowedMemory


def run_legs(
    pool: Pool, known: State | None, namespace: int, query: LegsQuery, settings: VectorSettings, memories: Memories
) -> tuple[Legs, State]:
    """The candidates of both legs in one state of the namespace, which is given too.

    Args:
        known: a state that the namespace had lately. One statement then reads the state and asks the graph; what both
            legs read beside it was there in that state, too. A filter needs a snapshot.
    """
    if query.where is None and known is not None:
        begin = perf_counter()
        state, graph = pool.read(lambda connection: _state_and_graph(connection, known, namespace, query, settings))
        took_s = {} if graph is None else {"vector": perf_counter() - begin}
        if (state.part, state.graph_upto) == (known.part, known.graph_upto):
            with suppress(StateGone):
                return _both(pool, state, query, None, settings, memories, graph, took_s), state
    with pool.snapshot() as connection:
        state = read_state(connection, namespace)
        took_s: dict[str, float] = {}
        allowed: Labels | None = None
        if query.where is not None:
            begin = perf_counter()
            allowed = memories.allowed.labels(connection, state.part, state.seq, query.where)
            took_s["filter"] = perf_counter() - begin
        return _both(pool, state, query, allowed, settings, memories, None, took_s), state


def _state_and_graph(
    connection: Connection, known: State, namespace: int, query: LegsQuery, settings: VectorSettings
) -> tuple[State, Found | None]:
    if query.vector is None or not known.graph_upto or query.k == 0 or settings.ef_search + query.k > EF_SEARCH:
        return read_state(connection, namespace), None
    statement, params = graph_statement(known, query.vector, query.k)
    state, packed = read_state_and(connection, namespace, statement, params)
    found = unpacked(packed)
    # Removed passages stay in a graph until a vacuum; where they are many, it has to be read further.
    return state, found if len(found[0]) == query.k else None


def _both(
    pool: Pool,
    state: State,
    query: LegsQuery,
    allowed: Labels | None,
    settings: VectorSettings,
    memories: Memories,
    from_graph: Found | None,
    took_s: dict[str, float],
) -> Legs:
    def live(labels: Labels) -> Labels:
        return pool.read(lambda connection: _live(connection, state, labels))

    lexical = vector = Candidates.empty()
    terms = QueryTerms.empty()
    is_any = query.k > 0 and (allowed is None or len(allowed) > 0)
    if query.lexical is not None:
        begin = perf_counter()
        dictionary = Dictionary(pool, state, memories.postings)
        terms = dictionary.question_terms(query.lexical.text)
        if is_any:
            found = (
                _headers(dictionary, state, terms, allowed)
                if query.lexical.headers_only
                else _lexical(dictionary, state, query.lexical, terms, allowed)
            )
            is_live = allowed is not None or state.passages == state.indexed
            lexical = _best(found, query.k, None if is_live else live)
        if query.lexical.headers_only:
            terms = QueryTerms.empty()
        took_s["lexical"] = perf_counter() - begin
    if query.vector is not None:
        begin = perf_counter()
        if is_any:
            where = "" if query.where is None else repr(query.where)
            leg = VectorLeg(pool, state, settings, memories.vectors, query.vector, query.k, allowed, where, from_graph)
            is_live = allowed is not None or state.passages == state.next_label - state.first_label
            vector = _best(leg.found(), query.k, None if is_live else live)
        took_s["vector"] = took_s.get("vector", 0.0) + perf_counter() - begin
    return Legs(
        lexical=lexical,
        vector=vector,
        generation=state.seq,
        allowed=-1 if allowed is None else len(allowed),
        terms=terms,
        took_s=took_s,
    )


def _lexical(
    dictionary: Dictionary, state: State, query: LexicalTerms, terms: QueryTerms, allowed: Labels | None
) -> Found:
    """Every passage that holds one of the terms that choose, by the sum of their BM25 times their factors."""
    chosen = _selective(terms, state.indexed)
    held = dictionary.terms(chosen.terms)
    totals = _totals(state)
    parts = [
        (postings.labels, factor * postings.scores(totals, query.header_weight))
        for term, factor in zip(chosen.terms, chosen.factors, strict=True)
        if (postings := held[term].postings)
    ]
    return summed(parts, state.next_label, allowed)


def _headers(dictionary: Dictionary, state: State, terms: QueryTerms, allowed: Labels | None) -> Found:
    """By the BM25 of headers alone, over the terms that fewest headers hold; see `LexicalReader.search_headers`."""
    common = max(COMMON_HEADERS, COMMON_SHARE * state.indexed)
    held = {term: found.postings for term, found in dictionary.terms(terms.terms).items() if found.postings}
    counts = sorted((len(postings.headers), term) for term, postings in held.items())
    naming = [held[term] for count, term in counts if 0 < count <= common][:MAX_NAMING_TERMS]
    totals = _totals(state)
    parts = [(postings.labels[postings.headers], postings.header_scores(totals)) for postings in naming]
    return summed(parts, state.next_label, allowed)


def _totals(state: State) -> Totals:
    return Totals(state.indexed, state.body_terms, state.header_terms)


def _selective(terms: QueryTerms, passages: int) -> QueryTerms:
    """The terms that choose candidates; see `LexicalReader.search_terms`."""
    known = np.flatnonzero(terms.frequencies > 0)
    if passages < COMMON_FROM or len(known) == 0:
        return terms.at(known)
    most = np.where(terms.stops, COMMON_STOP_SHARE, COMMON_SHARE) * passages
    rare = known[terms.frequencies[known] <= most[known]]
    return terms.at(rare if len(rare) else known[[np.argmin(terms.frequencies[known])]])


def _best(found: Found, k: int, live: Ask | None) -> Candidates:
    """The best `k` that are not removed: postings of removed passages stay until they are compacted.

    Args:
        live: None where nothing found was removed.
    """
    labels, scores = found
    if live is None:
        return top_k(labels, scores, k)
    asked = max(CHECKED_AT_ONCE, k)
    while True:
        ranked = top_k(labels, scores, asked)
        places = np.flatnonzero(np.isin(ranked.labels, live(ranked.labels)))[:k]
        if len(places) == k or len(ranked) == len(labels):
            return Candidates(ranked.labels[places], ranked.scores[places])
        asked *= 4


def _live(connection: Connection, state: State, labels: Labels) -> Labels:
    """The live ones among some passages, all of which were live or removed in `state`.

    Raises:
        StateGone: a write came after `state`; what it removed would be missed without what it put in its place.
    """
    rows = connection.execute(
        "SELECT n.seq, p.label FROM quarry.namespaces n "
        "LEFT JOIN quarry.passages p ON p.part = n.part AND p.label = ANY(%s::int8[]) WHERE n.part = %s",
        [array_of(labels), state.part],
        binary=True,
    ).fetchall()
    if not rows or rows[0][0] != state.seq:
        raise StateGone
    return np.fromiter((label for _, label in rows if label is not None), np.int64)
