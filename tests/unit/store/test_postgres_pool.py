"""Connections: how many, how long a statement takes, and how often what the server broke off is tried again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.store.postgres import connection as connection_module
from engine.store.postgres.connection import ATTEMPTS, Connection, Pool
from tests.postgres import database_of


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Pool]:
    monkeypatch.setattr(connection_module, "PAUSE_S", 0.001)
    monkeypatch.setattr(connection_module, "WAIT_S", 0.05)
    monkeypatch.setattr(connection_module, "STATEMENT_MS", 300)
    made = Pool(database_of(tmp_path), vectors=False, most=2)
    made.written(lambda connection: connection.execute("CREATE TABLE held (n int)"))
    yield made
    made.close()


def counted(pool: Pool) -> int:
    row = pool.read(lambda connection: connection.execute("SELECT count(*) FROM held").fetchone())
    return int(row[0]) if row else 0


def breaking(code: str, times: int) -> tuple[Callable[[Connection], None], list[int]]:
    """A write that the server breaks off so many times, and the attempts that were made."""
    attempts: list[int] = []

    def work(connection: Connection) -> None:
        attempts.append(len(attempts))
        connection.execute("INSERT INTO held VALUES (1)")
        if len(attempts) <= times:
            connection.execute(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$".encode())

    return work, attempts


@pytest.mark.parametrize("code", ["40001", "40P01", "25006", "57P01"])
def test_what_the_server_broke_off_is_tried_again_and_happens_once(pool: Pool, code: str) -> None:
    work, attempts = breaking(code, ATTEMPTS - 1)
    pool.written(work)
    assert len(attempts) == ATTEMPTS
    assert counted(pool) == 1


@pytest.mark.parametrize(("code", "most"), [("40001", ATTEMPTS), ("23514", 1), ("53100", 1)])
def test_attempts_are_bounded_and_an_error_that_stays_is_not_repeated(pool: Pool, code: str, most: int) -> None:
    work, attempts = breaking(code, 1_000)
    with pytest.raises(StorageError):
        pool.written(work)
    assert len(attempts) == most
    assert counted(pool) == 0


def test_a_process_opens_no_more_connections_than_it_may(pool: Pool) -> None:
    busy = pytest.raises(StorageError, match="every connection of this server is in use")
    with pool.reading(), pool.writing(), ThreadPoolExecutor(1) as other, busy:
        other.submit(counted, pool).result()
    assert counted(pool) == 0


def test_a_statement_that_takes_too_long_is_stopped(pool: Pool) -> None:
    with pytest.raises(StorageError, match="took too long"):
        pool.read(lambda connection: connection.execute("SELECT pg_sleep(60)"))
    assert counted(pool) == 0
