"""The control of both kinds of store keeps one contract."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from engine.errors import SessionBusy, SessionFailed
from engine.settings import EngineSettings
from engine.store.opening import open_store
from engine.store.postgres.connection import Pool
from engine.store.postgres.sessions import PostgresSessions
from engine.store.protocol import Store
from tests.contracts.control import ControlContract
from tests.postgres import database_of


class TestEmbeddedControl(ControlContract):
    def open(self, folder: Path, settings: EngineSettings) -> Store:
        return open_store(folder / "data", settings)


class TestPostgresControl(ControlContract):
    def open(self, folder: Path, settings: EngineSettings) -> Store:
        return open_store(database_of(folder), settings)

    def test_a_session_whose_process_is_silent_fails_when_its_lease_ends(self, held: Store, tmp_path: Path) -> None:
        pool = Pool(database_of(tmp_path))
        dead = PostgresSessions(pool, timedelta(hours=1), lease=timedelta(milliseconds=300))
        held.sessions.add(1, 7, "lost", b"")
        dead.claim(1, 7, "lost")
        with pytest.raises(SessionBusy):
            held.sessions.claim(1, 7, "lost")
        threading.Event().wait(0.4)
        with pytest.raises(SessionFailed):
            held.sessions.claim(1, 7, "lost")
        held.sessions.purge()
        with pytest.raises(SessionFailed):
            dead.save("lost", b"too late")
        pool.close()

    def test_a_lease_that_is_renewed_goes_on(self, held: Store, tmp_path: Path) -> None:
        pool = Pool(database_of(tmp_path))
        slow = PostgresSessions(pool, timedelta(hours=1), lease=timedelta(seconds=30))
        held.sessions.add(1, 7, "s", b"")
        slow.claim(1, 7, "s")
        assert slow.renew() == 1
        held.sessions.purge()
        slow.save("s", b"done")
        assert held.sessions.load(1, 7, "s").state == b"done"
        assert slow.renew() == 0
        pool.close()
