"""What a server remembers of postings and vectors is what a server that was just started reads."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest

from engine.ranking.terms import QueryTerms
from engine.settings import VectorSettings
from engine.store.postgres import maintenance, vectors
from engine.store.postgres.backend import PostgresBackend
from engine.store.postgres.connection import Pool
from engine.store.postgres.migrate import migrate
from engine.store.postgres.postings import summed
from engine.store.postgres.terms import Dictionary
from tests.contracts.backend import CORPUS, ask, spec, store
from tests.postgres import database_of

SETTINGS = VectorSettings(graph_from=20, exact_limit=5)
QUESTIONS = ("harbour ferry", "lantern3 storm", "gull1 again7", "zeppelin")


@pytest.fixture(autouse=True)
def small_graphs_are_read_under_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "COMPARED_FOR_STREAMED", 0)


@pytest.fixture
def pools(tmp_path: Path) -> Generator[Callable[[], Pool]]:
    where, made = database_of(tmp_path), list[Pool]()
    plain = Pool(where, vectors=False)
    migrate(plain)
    plain.close()

    def make() -> Pool:
        made.append(Pool(where))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


def seen(backend: PostgresBackend) -> list[object]:
    out: list[object] = []
    for question in QUESTIONS:
        for where in (None, {"colour": "red"}, {"year": {"$gte": 2003}}):
            legs = ask(backend, question, where=where, k=20)
            out.append([(ranked.labels.tolist(), ranked.scores.tolist()) for ranked in (legs.lexical, legs.vector)])
        out.append(backend.rarity(1, question))
    return out


def test_what_another_server_writes_removes_and_compacts_is_not_remembered_otherwise(
    pools: Callable[[], Pool],
) -> None:
    old, other = PostgresBackend(pools(), SETTINGS), PostgresBackend(pools(), SETTINGS)
    old.create(spec(1))
    steps: list[Callable[[], object]] = [
        lambda: store(other, CORPUS[:40]),
        lambda: store(other, CORPUS[40:]),
        lambda: other.delete(1, ids=[f"d{number}" for number in range(15)]),
        lambda: store(other, [{"id": f"d{number}", "body": f"harbour again{number}"} for number in range(12, 30)]),
        lambda: maintenance.maintain(other._pool, 1, SETTINGS),
        lambda: other._pool.written(lambda connection: maintenance.compact(connection, 1)),
        lambda: store(other, [{"id": "late", "body": "A zeppelin over the harbour."}]),
        lambda: other.delete(1, ids=["late"]),
        lambda: other.replace_all(spec(1), iter(())),
        lambda: store(other, CORPUS[20:]),
    ]
    fresh_pool = pools()
    for step in steps:
        step()
        assert seen(old) == seen(PostgresBackend(fresh_pool, SETTINGS))


def test_a_snapshot_does_not_see_what_was_remembered_later(pools: Callable[[], Pool]) -> None:
    backend, other = PostgresBackend(pools(), SETTINGS), PostgresBackend(pools(), SETTINGS)
    backend.create(spec(1))
    store(backend, CORPUS[:10])
    with backend.reading(1):
        before = seen(backend)
        store(other, CORPUS[10:15])
        other._memories = backend._memories
        assert seen(other) != before
        assert seen(backend) == before


def test_what_is_replaced_between_the_statements_of_a_query_is_found_as_it_is_now(
    pools: Callable[[], Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, other = PostgresBackend(pools(), SETTINGS), PostgresBackend(pools(), SETTINGS)
    backend.create(spec(1))
    store(backend, CORPUS[:10])
    backend.delete(1, ids=["d9"])
    assert len(ask(backend, "harbour ferry").lexical) > 0
    terms = Dictionary.question_terms

    def terms_before_a_write(dictionary: Dictionary, text: str) -> QueryTerms:
        monkeypatch.undo()
        found = terms(dictionary, text)
        store(other, CORPUS[:9])
        return found

    monkeypatch.setattr(Dictionary, "question_terms", terms_before_a_write)
    found, now = ask(backend, "harbour ferry"), ask(PostgresBackend(pools(), SETTINGS), "harbour ferry")
    assert len(now.lexical) > 0
    assert found.lexical.labels.tolist() == now.lexical.labels.tolist()
    assert found.vector.labels.tolist() == now.vector.labels.tolist()


def test_sums_over_few_and_over_many_labels_agree() -> None:
    draw = np.random.default_rng(5)
    parts = [
        (np.sort(draw.choice(900, 60, replace=False)), draw.random(60).astype(np.float32) + 1e-3) for _ in range(4)
    ]
    for allowed in (None, np.arange(0, 900, 3)):
        dense, sparse = summed(parts, 900, allowed), summed(parts, 10**9, allowed)
        assert dense[0].tolist() == sparse[0].tolist()
        assert dense[1].tolist() == sparse[1].tolist()
    assert len(summed([], 10, None)[0]) == 0
