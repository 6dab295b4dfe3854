"""Both legs of one query, read in one snapshot of the database."""

from __future__ import annotations

from time import perf_counter

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
from engine.store.postgres.connection import Connection
from engine.store.postgres.filters import Condition
from engine.store.postgres.postings import Found, Totals, summed
from engine.store.postgres.remembered import PostingMemory
from engine.store.postgres.terms import Dictionary
from engine.store.postgres.vectors import VectorMemory, nearest
from engine.store.postgres.writing import State

CHECKED_AT_ONCE = 256


def run_legs(
    connection: Connection,
    state: State,
    query: LegsQuery,
    where: Condition | None,
    settings: VectorSettings,
    postings: PostingMemory,
    vectors: VectorMemory,
) -> Legs:
    """The candidates of both legs in the caller's transaction."""
    part = state.part
    took_s: dict[str, float] = {}
    allowed: Labels | None = None
    if where is not None:
        begin = perf_counter()
        allowed = allowed_labels(connection, part, where)
        took_s["filter"] = perf_counter() - begin
    lexical = vector = Candidates.empty()
    terms = QueryTerms.empty()
    if query.lexical is not None:
        begin = perf_counter()
        dictionary = Dictionary(connection, state, postings)
        terms = dictionary.question_terms(query.lexical.text)
        if query.k > 0 and (allowed is None or len(allowed)):
            found = (
                _headers(dictionary, state, terms, allowed)
                if query.lexical.headers_only
                else _lexical(dictionary, state, query.lexical, terms, allowed)
            )
            is_live = allowed is not None or state.passages == state.indexed
            lexical = _best(connection, state, found, query.k, is_live=is_live)
        if query.lexical.headers_only:
            terms = QueryTerms.empty()
        took_s["lexical"] = perf_counter() - begin
    if query.vector is not None:
        begin = perf_counter()
        if query.k > 0 and (allowed is None or len(allowed)):
            found = nearest(connection, state, query.vector, query.k, allowed, settings, vectors)
            is_live = allowed is not None or state.passages == state.next_label
            vector = _best(connection, state, found, query.k, is_live=is_live)
        took_s["vector"] = perf_counter() - begin
    return Legs(
        lexical=lexical,
        vector=vector,
        generation=state.seq,
        allowed=-1 if allowed is None else len(allowed),
        terms=terms,
        took_s=took_s,
    )


def allowed_labels(connection: Connection, part: int, where: Condition) -> Labels:
    """Labels of the passages whose document satisfies `where`, strictly increasing."""
    statement = (
        "SELECT string_agg(int8send(p.label), ''::bytea ORDER BY p.label) FROM quarry.passages p "
        f"JOIN quarry.documents d USING (part, key) WHERE part = %s AND {where.sql}"
    )
    row = connection.execute(statement.encode(), [part, *where.params]).fetchone()
    packed = row[0] if row and row[0] is not None else b""
    return np.frombuffer(packed, ">i8").astype(np.int64)


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


def _best(connection: Connection, state: State, found: Found, k: int, *, is_live: bool) -> Candidates:
    """The best `k` that are not removed: postings of removed passages stay until they are compacted."""
    labels, scores = found
    if is_live:
        return top_k(labels, scores, k)
    asked = max(CHECKED_AT_ONCE, k)
    while True:
        ranked = top_k(labels, scores, asked)
        rows = connection.execute(
            "SELECT label FROM quarry.passages WHERE part = %s AND label = ANY(%s)",
            [state.part, ranked.labels.tolist()],
            binary=True,
        )
        live = np.fromiter((label for (label,) in rows), np.int64)
        places = np.flatnonzero(np.isin(ranked.labels, live))[:k]
        if len(places) == k or len(ranked) == len(labels):
            return Candidates(ranked.labels[places], ranked.scores[places])
        asked *= 4
