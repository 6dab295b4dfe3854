"""What a database gets when nobody waits: graphs, postings in few rows, and no remains."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.settings import VectorSettings
from engine.store.postgres import maintenance
from engine.store.postgres.backend import PostgresBackend
from engine.store.postgres.connection import Pool
from engine.store.postgres.migrate import migrate
from tests.contracts.backend import CORPUS, ask, found, spec, store
from tests.postgres import database_of

SETTINGS = VectorSettings(graph_from=20, exact_limit=5)


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
