from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

import pytest

import engine
from engine.errors import SearchTimeout
from engine.interruption import Interruption, unwatched
from engine.storage.connection import Database

ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3"


def endless(database: Database, started: threading.Event | None = None) -> None:
    with database.reader() as cursor:
        if started is not None:
            started.set()
        cursor.execute(ENDLESS).fetchall()


def one(database: Database) -> int:
    with database.reader() as cursor:
        row = cursor.execute("SELECT 1").fetchone()
        assert row is not None
        return row[0]


def test_firing_stops_a_query_of_another_thread(database: Database) -> None:
    interruption, started = Interruption(), threading.Event()
    outcome: list[type[BaseException]] = []

    def work() -> None:
        try:
            interruption.run(endless, database, started)
        except SearchTimeout as error:
            outcome.append(type(error))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    interruption.fire()
    thread.join()
    assert outcome == [SearchTimeout]
    assert one(database) == 1


def test_a_deadline_fires_by_itself(database: Database) -> None:
    with Interruption(0.05) as interruption, pytest.raises(SearchTimeout):
        interruption.run(endless, database)
    with pytest.raises(SearchTimeout):
        interruption.run(one, database)


def test_a_call_of_many_queries_ends_with_the_one_that_runs(database: Database) -> None:
    """Between two statements an interrupt finds nothing to stop; the next statement must not get away."""

    def many() -> None:
        with database.reader() as cursor:
            while True:
                cursor.execute("SELECT 1").fetchone()

    with Interruption(0.05) as interruption, pytest.raises(SearchTimeout):
        interruption.run(many)


def test_nothing_starts_under_a_switch_that_has_fired(database: Database) -> None:
    interruption = Interruption()
    interruption.fire()
    interruption.fire()
    with pytest.raises(SearchTimeout):
        interruption.run(one, database)


def test_an_unfired_switch_changes_nothing(database: Database) -> None:
    with Interruption(60.0) as interruption:
        assert interruption.run(one, database) == 1
        assert interruption.run(one, database) == 1


def test_one_search_stops_and_another_goes_on(database: Database) -> None:
    stopped = Interruption()
    with stopped.watching(_Idle()):
        stopped.fire()
    assert Interruption().run(one, database) == 1
    assert one(database) == 1


def test_writes_are_not_stopped(database: Database) -> None:
    interruption = Interruption()
    interruption.fire()

    def write() -> None:
        with database.transaction() as cursor:
            cursor.execute("CREATE TABLE t AS SELECT 1 AS n")

    interruption.run(write)
    assert one(database) == 1


def test_a_cancelled_task_stops_its_query(database: Database) -> None:
    """As the search loop uses it: the task is cancelled, its worker thread ends at once."""

    async def search(interruption: Interruption, started: threading.Event) -> None:
        try:
            await asyncio.to_thread(interruption.run, endless, database, started)
        except asyncio.CancelledError:
            interruption.fire()
            raise

    async def main() -> bool:
        started = threading.Event()
        task = asyncio.create_task(search(Interruption(), started))
        await asyncio.to_thread(started.wait)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return True
        return False

    # Leaving `run` joins the worker thread, so a query that went on would hang here.
    assert asyncio.run(main())


class _Idle:
    def interrupt(self) -> None:
        """Nothing runs."""


def test_a_namespace_goes_on_being_opened_when_the_search_that_began_it_is_stopped(
    database: Database, tmp_path: Path
) -> None:
    stopped = Interruption()
    stopped.fire()

    def others_need() -> int:
        with unwatched():
            return one(database)

    assert stopped.run(others_need) == 1
    with engine.open(tmp_path / "data", agent="offline") as quarry:
        quarry.upsert("notes", [{"id": "a", "text": "The ferry sails at nine."}])
        number = quarry.namespace("notes").id
    with engine.open(tmp_path / "data", agent="offline") as quarry:
        documents = quarry._core.store.documents
        with suppress(SearchTimeout):
            stopped.run(documents.state, number)
        assert quarry.open_namespaces == 1
