"""What cannot be used is refused with a sentence that names the remedy, and without the address or the password."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import engine
from engine.store.postgres import connection as connection_module
from engine.store.postgres import migrate
from tests.embedders import HashingEmbedder
from tests.postgres import address, database_of, server

SECRET = "swordfish"


def opened(where: str) -> engine.Engine:
    return engine.open(where, embedder=HashingEmbedder(), agent="offline")


def refusal(where: str) -> str:
    """What opening says; neither it nor the log's traceback may hold the secret."""
    with pytest.raises(engine.QuarryError) as raised:
        opened(where)
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    return raised.value.message


def run(where: str, *statements: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    "where",
    [
        f"postgresql://me:{SECRET}@host:port/quarry",
        f"postgresql://me:{SECRET}%@host/quarry",
        f"postgresql://host/quarry?pasword={SECRET}",
        f"postgresql://[::1/quarry?password={SECRET}",
    ],
)
def test_an_address_that_cannot_be_read(where: str) -> None:
    assert "cannot be read" in refusal(where) or "cannot be reached" in refusal(where)


def test_an_address_in_keywords_is_a_database_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    where = database_of(tmp_path / "held")
    before = sorted(tmp_path.iterdir())
    with opened(make_conninfo(**conninfo_to_dict(where))) as quarry:
        quarry.upsert("boats", [{"id": "a", "body": "A boat."}])
    with opened(where) as quarry:
        assert quarry.get("boats", "a")["body"] == "A boat."
    assert sorted(tmp_path.iterdir()) == before
    assert refusal(f"host=127.0.0.1 port=1 dbname=quarry password='{SECRET}'") == "The database cannot be reached."
    assert "cannot be read" in refusal(f"host=127.0.0.1 pasword={SECRET}")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("engine.store.postgres.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'quarry-search[postgres]'" in refusal("postgresql://host/quarry")
    monkeypatch.undo()
    # A module of ours that is missing is no matter of extras.
    monkeypatch.delitem(sys.modules, "engine.store.postgres.store")
    monkeypatch.setitem(sys.modules, "engine.store.postgres.sessions", None)
    with pytest.raises(ImportError):
        opened("postgresql://host/quarry")


def test_nobody_listens() -> None:
    assert refusal(f"postgresql://me:{SECRET}@127.0.0.1:1/quarry") == "The database cannot be reached."


def test_there_is_no_such_database() -> None:
    assert "CREATE DATABASE" in refusal(address(server(), dbname="nobody-made-this", password=SECRET))


def test_there_is_no_such_user() -> None:
    assert "user or the password" in refusal(address(server(), user="nobody", password=SECRET))


def test_another_encoding(tmp_path: Path) -> None:
    name = "quarry_ascii"
    run(
        server(),
        f"DROP DATABASE IF EXISTS {name}",
        f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0",
    )
    assert "UTF8" in refusal(address(server(), dbname=name))


def test_a_user_without_rights(tmp_path: Path) -> None:
    where = database_of(tmp_path)
    run(where, "DROP ROLE IF EXISTS quarry_weak", "CREATE ROLE quarry_weak LOGIN")
    assert "pgvector is missing" in refusal(address(where, user="quarry_weak"))
    run(where, "CREATE EXTENSION vector")
    assert "lacks a right" in refusal(address(where, user="quarry_weak"))
    opened(where).close()
    assert "lacks a right" in refusal(address(where, user="quarry_weak"))


def test_a_server_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "OLDEST_SERVER", 990_000)
    assert "PostgreSQL 15 or newer" in refusal(database_of(tmp_path))


def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    where = database_of(tmp_path)
    opened(where).close()
    run(where, "UPDATE quarry.version SET version = 99")
    with pytest.raises(engine.UnsupportedFormat, match="newer version"):
        opened(where)


def test_a_table_that_was_dropped(tmp_path: Path) -> None:
    where = database_of(tmp_path)
    with opened(where) as quarry:
        quarry.upsert("boats", [{"id": "a", "body": "A boat."}])
        run(where, "DROP TABLE quarry.passages")
        for call in (lambda: quarry.retrieve("boats", "boat"), lambda: quarry.upsert("boats", [{"id": "b"}])):
            with pytest.raises(engine.StorageError, match="table of Quarry is missing"):
                call()
        assert quarry.get("boats", "a") == {"id": "a", "body": "A boat."}


def test_a_disk_that_is_full_leaves_nothing_half_written(tmp_path: Path) -> None:
    where = database_of(tmp_path)
    with opened(where) as quarry:
        quarry.upsert("boats", [{"id": "a", "body": "A boat."}])
        # What the server says when it has no space left, in the middle of the upload.
        run(
            where,
            "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$",
            "CREATE TRIGGER no_space BEFORE INSERT ON quarry.postings EXECUTE FUNCTION no_space()",
        )
        with pytest.raises(engine.StorageFull, match="no space left"):
            quarry.upsert("boats", [{"id": "b", "body": "A barge."}, {"id": "a", "body": "Another."}])
        assert quarry.check() == []
        assert [document["body"] for document in quarry.documents("boats").documents] == ["A boat."]
        run(where, "DROP TRIGGER no_space ON quarry.postings")
        assert quarry.upsert("boats", [{"id": "b", "body": "A barge."}]) == 1


def test_a_transaction_that_somebody_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = database_of(tmp_path)
    monkeypatch.setattr(connection_module, "LOCK_MS", 300)
    with opened(where) as quarry:
        quarry.upsert("boats", [{"id": "a", "body": "A boat."}])
        with psycopg.connect(where) as other:
            other.execute("SELECT * FROM quarry.namespaces FOR UPDATE")
            with pytest.raises(engine.StorageError, match="Another transaction holds"):
                quarry.upsert("boats", [{"id": "b", "body": "A barge."}])
            # Readers wait for nobody.
            assert quarry.retrieve("boats", "boat", k=1)[0].document_id == "a"
        assert quarry.upsert("boats", [{"id": "b", "body": "A barge."}]) == 1


def test_servers_that_start_together_make_the_tables_once(tmp_path: Path) -> None:
    import threading

    where, faults = database_of(tmp_path), list[Exception]()

    def start() -> None:
        try:
            opened(where).close()
        except engine.QuarryError as error:
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with psycopg.connect(where) as connection:
        assert connection.execute(sql.SQL("SELECT count(*) FROM quarry.version")).fetchone() == (1,)


def test_what_only_a_folder_has_says_what_takes_its_place(tmp_path: Path) -> None:
    where = database_of(tmp_path)
    with opened(where) as quarry, pytest.raises(engine.InvalidRequest, match="pg_dump"):
        quarry.backup(tmp_path / "copy")
    with pytest.raises(engine.InvalidRequest, match="restore a backup"):
        engine.repair(where)
    with pytest.raises(engine.InvalidRequest, match="quarry move"):
        engine.restore(tmp_path, where)


def test_a_statement_of_an_abandoned_search_is_stopped(tmp_path: Path) -> None:
    from engine.interruption import Interruption
    from engine.store.postgres.connection import Pool

    where = database_of(tmp_path)
    pool = Pool(where, vectors=False)

    def wait() -> None:
        with pool.reading() as connection:
            connection.execute("SELECT pg_sleep(60)")

    with Interruption(0.2) as interruption, pytest.raises(engine.SearchTimeout):
        interruption.run(wait)
    with pool.reading() as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid() "
            "AND datname = current_database() AND state = 'active'"
        ).fetchone()
        assert row == (0,)
    pool.close()
