"""Both legs of one query, read in one snapshot of the database."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from pgvector import HalfVector, Vector

from engine.backend.protocol import Legs, LegsQuery, LexicalTerms
from engine.lexical.reader import (
    COMMON_FROM,
    COMMON_HEADERS,
    COMMON_SHARE,
    COMMON_STOP_SHARE,
    MAX_NAMING_TERMS,
)
from engine.model.hits import Candidates, Labels, Vectors, top_k
from engine.ranking.terms import QueryTerms
from engine.settings import VectorSettings
from engine.store.postgres.connection import Connection
from engine.store.postgres.filters import Condition
from engine.store.postgres.postings import Totals, best_headers, best_passages, header_frequency
from engine.store.postgres.terms import question_terms
from engine.store.postgres.text import escaped, unescaped
from engine.store.postgres.writing import State

CHECKED_AT_ONCE = 256
MOST_EF_SEARCH = 1000
"""What pgvector accepts."""


def run_legs(
    connection: Connection, state: State, query: LegsQuery, where: Condition | None, settings: VectorSettings
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
        terms = question_terms(connection, part, query.lexical.text, state.languages, state.indexed)
        if query.lexical.headers_only:
            lexical = _headers(connection, state, terms, query.k, allowed)
            terms = QueryTerms.empty()
        else:
            lexical = _lexical(connection, state, query.lexical, terms, query.k, allowed)
        took_s["lexical"] = perf_counter() - begin
    if query.vector is not None:
        begin = perf_counter()
        vector = _vector(connection, state, query.vector, query.k, allowed, settings)
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
    connection: Connection,
    state: State,
    query: LexicalTerms,
    terms: QueryTerms,
    k: int,
    allowed: Labels | None,
) -> Candidates:
    chosen = _selective(terms, state.indexed)
    if k == 0 or len(chosen) == 0 or (allowed is not None and len(allowed) == 0):
        return Candidates.empty()
    rows = _postings(connection, state.part, chosen.terms)
    totals = Totals(state.indexed, state.body_terms, state.header_terms)
    ranked = best_passages(chosen, rows, totals, header_weight=query.header_weight, allowed=allowed)
    return _live(connection, state, ranked, k) if allowed is None else _head(ranked, k)


def _headers(connection: Connection, state: State, terms: QueryTerms, k: int, allowed: Labels | None) -> Candidates:
    """By the BM25 of headers alone, over the terms that fewest headers hold; see `LexicalReader.search_headers`."""
    if k == 0 or len(terms) == 0 or (allowed is not None and len(allowed) == 0):
        return Candidates.empty()
    rows = _postings(connection, state.part, terms.terms)
    common = max(COMMON_HEADERS, COMMON_SHARE * state.indexed)
    counts = {term: header_frequency(parts) for term, parts in rows.items()}
    held = sorted((count, term) for term, count in counts.items() if 0 < count <= common)
    totals = Totals(state.indexed, state.body_terms, state.header_terms)
    naming = {term: rows[term] for _, term in held[:MAX_NAMING_TERMS]}
    ranked = best_headers(naming, totals, allowed=allowed)
    return _live(connection, state, ranked, k) if allowed is None else _head(ranked, k)


def _postings(connection: Connection, part: int, terms: Sequence[str]) -> dict[str, list[tuple[int, bytes]]]:
    rows: dict[str, list[tuple[int, bytes]]] = {}
    for term, first, packed in connection.execute(
        "SELECT term, first_label, postings FROM quarry.postings WHERE part = %s AND term = ANY(%s) "
        "ORDER BY first_label",
        [part, [escaped(term) for term in terms]],
        binary=True,
    ):
        rows.setdefault(unescaped(term), []).append((first, packed))
    return rows


def _selective(terms: QueryTerms, passages: int) -> QueryTerms:
    """Terms that choose candidates."""
    known = np.flatnonzero(terms.frequencies > 0)
    if passages < COMMON_FROM or len(known) == 0:
        return terms.at(known)
    most = np.where(terms.stops, COMMON_STOP_SHARE, COMMON_SHARE) * passages
    rare = known[terms.frequencies[known] <= most[known]]
    return terms.at(rare if len(rare) else known[[np.argmin(terms.frequencies[known])]])


def _live(connection: Connection, state: State, ranked: Candidates, k: int) -> Candidates:
    """The first `k` that are not removed: postings of removed passages stay until they are compacted."""
    if state.indexed == state.passages:
        return _head(ranked, k)
    kept: list[int] = []
    for start in range(0, len(ranked), max(CHECKED_AT_ONCE, k)):
        some = ranked.labels[start : start + max(CHECKED_AT_ONCE, k)]
        rows = connection.execute(
            "SELECT label FROM quarry.passages WHERE part = %s AND label = ANY(%s)", [state.part, some.tolist()]
        )
        live = np.fromiter((label for (label,) in rows), np.int64)
        kept += (start + np.flatnonzero(np.isin(some, live))).tolist()
        if len(kept) >= k:
            break
    places = np.asarray(kept[:k], np.intp)
    return Candidates(ranked.labels[places], ranked.scores[places])


def _head(ranked: Candidates, k: int) -> Candidates:
    return Candidates(ranked.labels[:k], ranked.scores[:k])


def _vector(
    connection: Connection, state: State, query: Vectors, k: int, allowed: Labels | None, settings: VectorSettings
) -> Candidates:
    """The nearest `k`: by the namespace's graph where it has one and many passages are allowed, else exactly."""
    if k == 0 or (allowed is not None and len(allowed) == 0):
        return Candidates.empty()
    # Numbers stand in the text: a plan over the part's own partial index is found only by constants.
    width, source = len(query), f"quarry.passages WHERE part = {int(state.part)}"
    exact = f"embedding::vector({width}) <#> %s::vector({width})"
    params: list[object] = []
    if allowed is not None:
        source += " AND label = ANY(%s)"
        params.append(allowed.tolist())
    asked = Vector(query)
    if state.has_graph and (allowed is None or len(allowed) > settings.exact_limit):
        connection.execute(f"SET LOCAL hnsw.ef_search = {min(settings.ef_search + k, MOST_EF_SEARCH)}".encode())
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        nearest = f"SELECT label, embedding FROM {source} ORDER BY embedding::halfvec({width}) <#> %s LIMIT %s"
        statement = f"SELECT label, {exact} FROM ({nearest}) AS found"
        params = [asked, *params, HalfVector(query), k]
    else:
        # Products of half precision take a third of the time; the few best are computed again in full.
        near = f"SELECT label, embedding FROM {source} ORDER BY embedding <#> %s LIMIT %s"
        statement = f"SELECT label, {exact} FROM ({near}) AS found ORDER BY 2, label LIMIT %s"
        params = [asked, *params, HalfVector(query), 2 * k, k]
    return _ranked(connection.execute(statement.encode(), params).fetchall(), k)


def _ranked(rows: Sequence[tuple[int, float]], k: int) -> Candidates:
    labels = np.fromiter((label for label, _ in rows), np.int64, len(rows))
    scores = np.fromiter((-distance for _, distance in rows), np.float32, len(rows))
    return top_k(labels, np.clip(scores, -1.0, 1.0), k)
