"""What a database gets when nobody waits: graphs, postings in few rows, and no remains."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.ranking.passage_terms import PassageTerms
from engine.settings import VectorSettings
from engine.store.postgres import maintenance, vectors
from engine.store.postgres.backend import PostgresBackend
from engine.store.postgres.connection import Pool
from engine.store.postgres.migrate import VERSION, migrate
from engine.store.postgres.vector_memory import VectorMemory
from engine.store.postgres.vectors import VectorLeg
from tests.contracts.backend import CORPUS, ask, found, spec, store
from tests.postgres import database_of

SETTINGS = VectorSettings(graph_from=20, exact_limit=5)


@pytest.fixture(autouse=True)
def small_graphs_are_read_under_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "COMPARED_FOR_STREAMED", 0)


class Held:
    """A backend whose namespaces get a graph early, with a look into its database."""

    def __init__(self, where: str) -> None:
        self.where = where
        plain = Pool(where, vectors=False)
        migrate(plain)
        plain.close()
        self.pool = Pool(where)
        self.backend = PostgresBackend(self.pool, SETTINGS)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.where) as connection:
            return connection.execute(statement.encode()).fetchall()

    def graphs(self) -> int:
        return len(self.rows("SELECT 1 FROM pg_indexes WHERE indexname LIKE 'passages_near_%'"))

    def named(self, namespace: int) -> None:
        with psycopg.connect(self.where, autocommit=True) as connection:
            connection.execute(
                "UPDATE quarry.namespaces SET company = 1, name = %s WHERE namespace = %s", [f"n{namespace}", namespace]
            )


@pytest.fixture
def held(tmp_path: Path) -> Generator[Held]:
    made = Held(database_of(tmp_path))
    made.backend.create(spec(1))
    made.named(1)
    store(made.backend, CORPUS)
    yield made
    made.pool.close()


def test_a_large_namespace_gets_a_graph_that_finds_what_a_scan_finds(held: Held) -> None:
    scanned = [ask(held.backend, text, k=10).vector for text in ("harbour ferry", "lantern3", "gull1 above")]
    assert maintenance.due(held.pool, SETTINGS) == [1]
    held.backend.maintain(1)
    assert held.graphs() == 1
    assert maintenance.due(held.pool, SETTINGS) == []
    for text, exact in zip(("harbour ferry", "lantern3", "gull1 above"), scanned, strict=True):
        near = ask(held.backend, text, k=10).vector
        assert len(set(near.labels) & set(exact.labels)) >= 9
    assert found(held.backend, ask(held.backend, "ferry", where={"colour": "red"}, k=5).vector)


def test_what_came_after_a_graph_is_found_too_and_gets_into_the_next(held: Held) -> None:
    held.backend.maintain(1)
    (before,) = held.rows("SELECT graph_upto FROM quarry.namespaces")
    store(held.backend, [{"id": "late", "body": "A zeppelin over the quay."}])
    for where in (None, {"id": "late"}, {"id": {"$neq": "d1"}}):
        assert found(held.backend, ask(held.backend, "zeppelin over the quay", where=where, k=3).vector)[0] == "late"
    # Few are scanned; an index that takes them in would slow down every write.
    assert maintenance.due(held.pool, SETTINGS) == []
    store(held.backend, [{"id": f"x{number}", "body": f"A zeppelin over quay{number}."} for number in range(30)])
    assert maintenance.due(held.pool, SETTINGS) == [1]
    held.backend.maintain(1)
    assert held.graphs() == 1
    (after,) = held.rows("SELECT graph_upto FROM quarry.namespaces")
    assert after > before
    assert found(held.backend, ask(held.backend, "zeppelin over the quay", k=3).vector)[0] == "late"


def test_servers_that_tidy_together_build_one_graph(held: Held) -> None:
    others = [PostgresBackend(Pool(held.where), SETTINGS) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(other.maintain, 1) for other in others]:
            done.result()
    for other in others:
        other.close()
    assert held.graphs() == 1
    assert maintenance.due(held.pool, SETTINGS) == []


def test_vectors_that_are_too_many_to_remember_are_scanned_by_the_database(held: Held) -> None:
    def seen() -> list[tuple[list[int], list[float]]]:
        asked = [ask(held.backend, "harbour ferry", where=where, k=10).vector for where in (None, {"colour": "red"})]
        return [(each.labels.tolist(), each.scores.round(5).tolist()) for each in asked]

    for number in range(10):
        held.backend.delete(1, ids=[f"d{number}"])
    remembered = seen()
    held.backend._memories = held.backend._memories._replace(vectors=VectorMemory(0))
    assert seen() == remembered


def test_what_a_filter_allows_is_compared_here_once_it_is_asked_for_again(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = VectorSettings(graph_from=20, exact_limit=1_000)
    held.backend.maintain(1)
    backend, asked = PostgresBackend(held.pool, settings), list[str]()
    exact = VectorLeg._exact
    monkeypatch.setattr(VectorLeg, "_exact", lambda leg, allowed: asked.append(leg.where) or exact(leg, allowed))

    def seen(backend: PostgresBackend, text: str) -> list[tuple[list[int], list[float]]]:
        legs = [ask(backend, text, where=where, k=9).vector for where in ({"colour": "red"}, {"year": {"$gte": 2003}})]
        return [(each.labels.tolist(), each.scores.round(5).tolist()) for each in legs]

    def changed() -> None:
        held.backend.delete(1, ids=[f"d{number}" for number in range(10)])
        store(
            held.backend, [{"id": f"x{n}", "body": f"A red ferry{n}.", "colour": "red", "year": 2003} for n in range(5)]
        )

    seen(backend, "The first time the database compares.")
    for change in (lambda: None, changed):
        change()
        for text in ("harbour ferry", "lantern3 storm"):
            by_database = seen(PostgresBackend(held.pool, settings), text)
            asked.clear()
            assert seen(backend, text) == by_database
            assert asked == []


def test_a_database_of_version_1_is_brought_up(held: Held) -> None:
    seen = ask(held.backend, "harbour lantern3")
    with psycopg.connect(held.where, autocommit=True) as connection:
        connection.execute("ALTER TABLE quarry.passages DROP COLUMN terms")
        connection.execute(
            "ALTER TABLE quarry.namespaces DROP COLUMN compactions, DROP COLUMN graph_upto, DROP COLUMN first_label, "
            "ADD COLUMN has_graph boolean NOT NULL DEFAULT false"
        )
        connection.execute("UPDATE quarry.version SET version = 1")
    plain = Pool(held.where, vectors=False)
    migrate(plain)
    migrate(plain)
    plain.close()
    assert held.rows("SELECT version FROM quarry.version") == [(VERSION,)]
    again = ask(held.backend, "harbour lantern3")
    assert again.lexical.labels.tolist() == seen.lexical.labels.tolist()
    # Terms that were never stored are read from the texts.
    passages = held.backend.hydrate(1, again.lexical.labels)
    known = held.backend.passage_terms(1, again.lexical.labels)
    assert known.bodies.terms.tolist() == PassageTerms.of(passages).bodies.terms.tolist()


def test_a_graph_goes_with_its_namespace(held: Held) -> None:
    held.backend.maintain(1)
    held.backend.drop(1)
    assert held.graphs() == 0
    assert held.rows("SELECT count(*) FROM quarry.postings") == [(0,)]
    assert held.rows("SELECT count(*) FROM quarry.passages") == [(0,)]


def test_worn_postings_are_compacted_and_say_the_same(held: Held) -> None:
    for number in range(20):
        held.backend.delete(1, ids=[f"d{number}"])
    assert 1 in maintenance.due(held.pool, VectorSettings())
    before = ask(held.backend, "harbour lantern3").lexical
    maintenance.maintain(held.pool, 1, VectorSettings())
    after = ask(held.backend, "harbour lantern3").lexical
    # Frequencies no longer count what was removed; what is found is the same.
    assert set(after.labels) == set(before.labels)
    assert held.rows("SELECT max(n) FROM (SELECT count(*) AS n FROM quarry.postings GROUP BY term) AS t") == [(1,)]
    assert maintenance.due(held.pool, VectorSettings()) == []


def test_many_small_writes_are_compacted(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(maintenance.MANY_WRITES + 1):
        store(held.backend, [{"id": f"x{number}", "body": f"harbour again{number}"}])
    assert 1 in maintenance.due(held.pool, VectorSettings())
    maintenance.maintain(held.pool, 1, VectorSettings())
    assert maintenance.due(held.pool, VectorSettings()) == []
    assert len(ask(held.backend, "harbour").lexical) == len(CORPUS) + maintenance.MANY_WRITES + 1


def test_what_a_crash_left_half_made_is_swept_away_later(held: Held) -> None:
    held.backend.create(spec(2))
    store(held.backend, CORPUS[:3], 2)
    assert maintenance.sweep(held.pool) == 0
    assert held.backend.exists(2)
    with psycopg.connect(held.where, autocommit=True) as connection:
        connection.execute("UPDATE quarry.namespaces SET updated_at = updated_at - 7200000 WHERE namespace = 2")
    assert maintenance.sweep(held.pool) == 1
    assert not held.backend.exists(2)
    assert held.backend.count(1) == len(CORPUS)
