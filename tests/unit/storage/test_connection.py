# ruff: noqa: PT012 - the block under test is a transaction
from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from engine.errors import DataDirectoryLocked, EngineClosed, QuarryError, SearchTimeout, StorageError
from engine.interruption import Interruption
from engine.storage.connection import Cursor, Database, connect, transaction, translated_errors
from engine.storage.hot_copy import copy_database
from engine.storage.translation import translate

ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3"


@pytest.fixture
def table(database: Database) -> Database:
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (name VARCHAR PRIMARY KEY, n BIGINT)")
        cursor.execute("INSERT INTO t VALUES ('kept', 1)")
    return database


def names(database: Database) -> list[str]:
    with database.reader() as cursor:
        return [name for (name,) in cursor.execute("SELECT name FROM t ORDER BY name").fetchall()]


class Stop(BaseException):
    """Not an Exception, like KeyboardInterrupt."""


@pytest.mark.parametrize("error", [ValueError, Stop, KeyboardInterrupt, SystemExit])
def test_any_exception_rolls_the_transaction_back(table: Database, error: type[BaseException]) -> None:
    with pytest.raises(error), table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        raise error
    assert names(table) == ["kept"]


def test_a_statement_that_fails_leaves_nothing_and_the_next_write_works(table: Database) -> None:
    with pytest.raises(StorageError), table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        cursor.execute("INSERT INTO t VALUES ('kept', 3)")
    with table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('next', 4)")
    assert names(table) == ["kept", "next"]


def test_a_swallowed_error_does_not_become_a_silent_loss(table: Database) -> None:
    """DuckDB's COMMIT would report success here and keep nothing."""
    with pytest.raises(StorageError), table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        with contextlib.suppress(duckdb.Error):
            cursor.execute("INSERT INTO t VALUES ('kept', 3)")
    assert names(table) == ["kept"]


def test_the_driver_still_reports_success_for_a_commit_that_keeps_nothing(table: Database) -> None:
    """Why the test above is needed; when this fails, the driver has mended it."""
    with table.reader() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        with contextlib.suppress(duckdb.Error):
            cursor.execute("no such statement")
        cursor.execute("COMMIT")
    assert names(table) == ["kept"]


def test_the_first_error_is_told_when_the_rollback_fails_too(table: Database) -> None:
    with pytest.raises(ValueError, match="the cause"), table.reader() as cursor, transaction(cursor):
        cursor.close()
        raise ValueError("the cause")


def test_a_writer_whose_rollback_failed_is_replaced(table: Database) -> None:
    with pytest.raises(ValueError), table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        cursor.close()
        raise ValueError
    with table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('next', 3)")
    assert names(table) == ["kept", "next"]


def test_committed_rows_are_seen_at_once_and_uncommitted_ones_are_not(table: Database) -> None:
    with table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('next', 2)")
        assert names(table) == ["kept"]
    assert names(table) == ["kept", "next"]


def test_a_snapshot_does_not_move_with_later_commits(table: Database) -> None:
    with table.snapshot() as cursor:
        first = cursor.execute("SELECT count(*) FROM t").fetchone()
        with table.transaction() as writer:
            writer.execute("INSERT INTO t VALUES ('next', 2)")
        assert cursor.execute("SELECT count(*) FROM t").fetchone() == first
    assert names(table) == ["kept", "next"]


def test_writers_of_several_threads_wait_for_each_other(table: Database) -> None:
    def write(worker: int) -> None:
        for n in range(20):
            with table.transaction() as cursor:
                cursor.execute("DELETE FROM t WHERE name = 'hot'")
                cursor.execute("INSERT INTO t VALUES ('hot', $1)", [worker * 100 + n])

    failures = run_threads(write, 4)
    assert failures == []
    assert names(table) == ["hot", "kept"]


def test_readers_of_several_threads_never_share_a_cursor(table: Database) -> None:
    def read(worker: int) -> None:
        for n in range(100):
            with table.reader() as cursor:
                assert cursor.execute("SELECT $1::BIGINT", [worker * 1000 + n]).fetchone() == (worker * 1000 + n,)

    assert run_threads(read, 8) == []


def run_threads(work, count: int) -> list[BaseException]:
    failures: list[BaseException] = []

    def guarded(worker: int) -> None:
        try:
            work(worker)
        except BaseException as error:  # noqa: BLE001 - reported to the test
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_a_nested_reader_is_another_cursor(table: Database) -> None:
    with table.reader() as outer, table.reader() as inner:
        assert outer is not inner
    with table.reader() as again:
        assert again in (outer, inner)


def test_an_unread_result_does_not_leak_into_the_next_use_of_its_cursor(table: Database) -> None:
    with table.reader() as cursor:
        cursor.execute("SELECT * FROM range(1000000)").fetchone()
    with table.reader() as same:
        assert same is cursor
        assert same.execute("SELECT 7").fetchall() == [(7,)]


@contextmanager
def interruptible(cursor: Cursor, deadline_s: float | None) -> Generator[None]:
    with Interruption(deadline_s) as interruption, translated_errors(), interruption.watching(cursor):
        yield


def test_a_query_past_its_deadline_is_stopped_and_its_cursor_goes_on(table: Database) -> None:
    with table.reader() as cursor:
        with pytest.raises(SearchTimeout), interruptible(cursor, 0.05):
            cursor.execute(ENDLESS).fetchall()
        assert cursor.execute("SELECT 1").fetchone() == (1,)


def test_a_query_begun_after_the_deadline_is_stopped_too(table: Database) -> None:
    with table.reader() as cursor, pytest.raises(SearchTimeout), interruptible(cursor, 0.01):
        time.sleep(0.05)
        cursor.execute(ENDLESS).fetchall()


def test_no_deadline_and_an_unreached_one_change_nothing(table: Database) -> None:
    with table.reader() as cursor:
        for deadline in (None, 60.0):
            with interruptible(cursor, deadline):
                assert cursor.execute("SELECT 1").fetchone() == (1,)


def test_a_transaction_past_its_deadline_keeps_nothing(table: Database) -> None:
    with pytest.raises(SearchTimeout), table.transaction() as cursor:
        cursor.execute("INSERT INTO t VALUES ('lost', 2)")
        with interruptible(cursor, 0.05):
            cursor.execute(ENDLESS).fetchall()
    assert names(table) == ["kept"]


def test_closing_stops_the_queries_that_run(table: Database) -> None:
    started = threading.Event()

    def read(_: int) -> None:
        with table.reader() as cursor:
            started.set()
            cursor.execute(ENDLESS).fetchall()

    failures: list[BaseException] = []
    thread = threading.Thread(target=lambda: failures.extend(run_threads(read, 1)))
    thread.start()
    started.wait()
    table.close()
    thread.join()
    assert [type(failure) for failure in failures] == [SearchTimeout]


@pytest.mark.parametrize("use", ["reader", "snapshot", "transaction"])
def test_a_closed_database_says_so(table: Database, use: str) -> None:
    table.close()
    table.close()
    with pytest.raises(EngineClosed), getattr(table, use)():
        pass


def test_what_was_committed_is_there_after_reopening(table: Database) -> None:
    table.reopen()
    assert names(table) == ["kept"]
    table.close()
    again = connect(table.path, threads=1, memory_limit="256MB")
    assert names(again) == ["kept"]
    again.close()


def test_a_fatal_error_marks_the_database_broken_until_it_is_reopened(table: Database) -> None:
    with pytest.raises(StorageError), table.reader():
        raise duckdb.FatalException("database has been invalidated because of a previous fatal error")
    assert table.is_broken
    for use in (table.reader, table.transaction):
        with pytest.raises(StorageError, match="opened again"), use():
            pass
    table.reopen()
    assert names(table) == ["kept"]


def copied(table: Database, folder: Path) -> list[str]:
    """What a copy holds that is made while rows are written and a checkpoint is tried."""
    folder.mkdir()
    with table.pinned() as log_bytes:
        expected = names(table)
        for _ in range(3):
            with table.transaction() as cursor:
                cursor.execute("INSERT INTO t SELECT 'later' || uuid(), range FROM range(20000)")
                cursor.execute("UPDATE t SET n = n + 2")
            assert not table.checkpoint()
        copy_database(table, log_bytes, folder)
    assert len(names(table)) == len(expected) + 60_000
    copy = connect(folder / table.path.name, threads=1, memory_limit="256MB")
    found = names(copy)
    copy.close()
    assert found == expected
    return found


def test_a_copy_holds_what_was_committed_before_it_and_writes_go_on(table: Database, tmp_path: Path) -> None:
    with table.transaction() as cursor:
        cursor.execute("INSERT INTO t SELECT 'n' || range, range FROM range(50000)")
    first = copied(table, tmp_path / "first")
    assert table.checkpoint()
    assert len(copied(table, tmp_path / "second")) == len(first) + 60_000
    assert table.checkpoint()


def test_a_copied_file_stays_locked_to_other_processes(table: Database, tmp_path: Path) -> None:
    """Closing any descriptor of a file ends the locks of the process on it, DuckDB's included."""

    def open_elsewhere() -> str:
        program = f"import duckdb; duckdb.connect({str(table.path)!r})"
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False).stderr

    for turn in range(2):
        copied(table, tmp_path / f"copy{turn}")
        assert "Conflicting lock" in open_elsewhere()
    table.close()
    assert open_elsewhere() == ""


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "ATTACH 'other.db' AS other",
        "COPY (SELECT 1) TO 'out.csv'",
        "INSTALL fts",
        "LOAD fts",
        "SET threads = 8",
        "SET lock_configuration = false",
        "SET enable_external_access = true",
        "CREATE SECRET s (TYPE s3)",
    ],
)
def test_sql_reaches_nothing_but_its_own_file(table: Database, statement: str) -> None:
    with pytest.raises(StorageError), table.reader() as cursor:
        cursor.execute(statement)


def test_sql_does_not_reach_variables_of_python(table: Database) -> None:
    reachable = {"a": [1]}
    with pytest.raises(StorageError), table.reader() as cursor:
        cursor.execute("SELECT * FROM reachable").fetchall()
    assert reachable


def test_settings_are_the_ones_asked_for(tmp_path: Path) -> None:
    database = connect(tmp_path / "s.duckdb", threads=1, memory_limit="300MB", temp_directory=tmp_path / "spill")
    with database.reader() as cursor:
        held = dict(cursor.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    database.close()
    assert held["threads"] == "1"
    assert held["memory_limit"] == "286.1 MiB"
    assert held["temp_directory"] == str(tmp_path / "spill")
    assert held["lock_configuration"] == "true"


def test_no_text_of_the_driver_is_passed_on() -> None:
    secrets = "'/home/someone/data.duckdb' SELECT 'words of a document'"
    kinds = [kind for kind in vars(duckdb).values() if isinstance(kind, type) and issubclass(kind, duckdb.Error)]
    assert len(kinds) > 20
    for kind in kinds:
        translated = translate(kind(secrets))
        assert isinstance(translated, QuarryError)
        assert "someone" not in translated.message
        assert "document" not in translated.message


def test_a_lock_conflict_names_the_process_without_the_path() -> None:
    error = duckdb.IOException('Could not set lock on file "/srv/x": Conflicting lock is held in /usr/bin/p (PID 42).')
    translated = translate(error)
    assert isinstance(translated, DataDirectoryLocked)
    assert translated.message == "The data is in use by another process (PID 42)."


def test_the_log_that_a_commit_checkpoints_grows_with_the_file_up_to_a_bound(tmp_path: Path) -> None:
    database = connect(tmp_path / "s.duckdb", threads=1, memory_limit="300MB")
    with database.transaction() as cursor:
        cursor.execute("CREATE TABLE t (a VARCHAR USING COMPRESSION uncompressed)")
    limits: list[int] = []
    for _ in range(3):
        with database.transaction() as cursor:
            set_to = cursor.execute("SELECT current_setting('checkpoint_threshold')").fetchone()
            assert set_to
            limits.append(round(float(set_to[0].removesuffix(" MiB"))))
            cursor.execute("INSERT INTO t SELECT repeat(n::VARCHAR, 3000) FROM range(10000, 20000) r(n)")
        assert database.log_bytes > 100_000_000, "DuckDB now counts long texts: commits need no help"
        database.checkpoint()
        assert database.log_bytes == 0
    database.close()
    assert limits == [16, 16, 32]
