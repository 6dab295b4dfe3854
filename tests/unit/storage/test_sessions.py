from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import randbytes

import pytest

from engine.errors import SessionBusy, SessionExpired, SessionFailed, SessionNotFound, StorageError
from engine.model.clock import to_ms
from engine.model.ids import new_session_id
from engine.storage import sessions as storage_sessions
from engine.storage.catalog import Catalog
from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import Cursor
from engine.storage.manifest import Manifest
from engine.storage.sessions import SessionStore
from tests.catalogs import added

DAY = timedelta(hours=24)
COMPANY, NAMESPACE = 1, 10


@pytest.fixture
def sessions(file: CatalogFile, clock) -> SessionStore:
    return SessionStore(file, DAY, clock)


def begun(sessions: SessionStore, company: int = COMPANY, namespace: int = NAMESPACE) -> str:
    """A session with a turn under way."""
    session_id = new_session_id()
    sessions.add(company, namespace, session_id, b"")
    sessions.claim(company, namespace, session_id)
    return session_id


def finished(sessions: SessionStore, state: bytes = b"state") -> str:
    session_id = begun(sessions)
    sessions.save(session_id, state)
    return session_id


def test_ids_are_long_random_and_safe_in_urls() -> None:
    ids = {new_session_id() for _ in range(5)}
    assert len(ids) == 5
    assert all(len(name) == 27 and name.startswith("sess_") for name in ids)


def test_a_saved_session_is_loaded_as_it_was(sessions: SessionStore) -> None:
    state = bytes(range(256)) * 40
    session_id = finished(sessions, state)
    session = sessions.load(COMPANY, NAMESPACE, session_id)
    assert (session.state, session.status, session.id) == (state, "open", session_id)


def test_a_session_may_be_made_under_an_id_already_told(sessions: SessionStore) -> None:
    sessions.add(COMPANY, NAMESPACE, "sess_given", b"x")
    assert sessions.load(COMPANY, NAMESPACE, "sess_given").state == b"x"


def test_a_new_session_is_known_before_it_is_on_disk(file: CatalogFile, sessions: SessionStore) -> None:
    for number in range(3):
        sessions.add(COMPANY, NAMESPACE, f"sess_{number}", b"x")
    with file.read() as cursor:
        count = "SELECT count(*) FROM sessions"
        assert cursor.execute(count).fetchone() == (0,)
        assert sessions.load(COMPANY, NAMESPACE, "sess_1").state == b"x"
        assert cursor.execute(count).fetchone() == (3,), "one read writes all that wait"


def test_a_write_that_failed_behind_its_commit_is_tried_again(
    file: CatalogFile, sessions: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.add(COMPANY, NAMESPACE, "sess_a", b"x")
    with monkeypatch.context() as patched:
        patched.setattr(Manifest, "record", refused)
        with pytest.raises(StorageError):
            sessions.flush()
    with file.read() as cursor:
        assert cursor.execute("SELECT count(*) FROM sessions").fetchone() == (1,), "it is stored all the same"
    sessions.flush()
    assert sessions.load(COMPANY, NAMESPACE, "sess_a").state == b"x"


def refused(*_: object) -> None:
    raise StorageError("no space left")


def test_no_more_new_sessions_wait_than_memory_should_hold(
    file: CatalogFile, sessions: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_sessions, "WAITING", 2)
    for number in range(3):
        sessions.add(COMPANY, NAMESPACE, f"sess_{number}", b"x")
    with file.read() as cursor:
        assert cursor.execute("SELECT count(*) FROM sessions").fetchone() == (3,)


@pytest.mark.parametrize(("company", "namespace"), [(2, NAMESPACE), (COMPANY, 11), (2, 11)])
def test_other_companies_and_namespaces_do_not_have_it(sessions: SessionStore, company: int, namespace: int) -> None:
    session_id = finished(sessions)
    for method in (sessions.load, sessions.claim):
        with pytest.raises(SessionNotFound):
            method(company, namespace, session_id)
    assert sessions.claim(COMPANY, NAMESPACE, session_id).state == b"state"


@pytest.mark.parametrize("session_id", ["", "sess_", "sess_" + "a" * 22, "' OR 1=1 --", "\x00"])
def test_unknown_sessions_are_not_found(sessions: SessionStore, session_id: str) -> None:
    with pytest.raises(SessionNotFound):
        sessions.claim(COMPANY, NAMESPACE, session_id)


def test_a_turn_claims_the_session_and_gives_it_back(sessions: SessionStore) -> None:
    session_id = finished(sessions, b"one")
    for state in (b"two", b"three"):
        assert sessions.claim(COMPANY, NAMESPACE, session_id).status == "running"
        with pytest.raises(SessionBusy):
            sessions.claim(COMPANY, NAMESPACE, session_id)
        sessions.save(session_id, state)
        assert sessions.load(COMPANY, NAMESPACE, session_id).state == state


def test_a_session_is_busy_while_a_turn_runs(sessions: SessionStore) -> None:
    session_id = begun(sessions)
    with pytest.raises(SessionBusy):
        sessions.claim(COMPANY, NAMESPACE, session_id)


def test_of_many_claims_at_once_one_wins(sessions: SessionStore) -> None:
    session_id = finished(sessions)
    outcomes: list[str] = []
    ready = threading.Barrier(6)

    def claim() -> None:
        ready.wait()
        try:
            sessions.claim(COMPANY, NAMESPACE, session_id)
            outcomes.append("won")
        except SessionBusy:
            outcomes.append("busy")

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["busy"] * 5 + ["won"]


def test_a_cancelled_turn_leaves_the_state_before_it(sessions: SessionStore) -> None:
    session_id = finished(sessions, b"before")
    sessions.claim(COMPANY, NAMESPACE, session_id)
    sessions.release(session_id)
    assert sessions.claim(COMPANY, NAMESPACE, session_id).state == b"before"


def test_a_failed_session_cannot_be_continued(sessions: SessionStore, reopen: Callable[[], CatalogFile], clock) -> None:
    session_id = finished(sessions)
    sessions.claim(COMPANY, NAMESPACE, session_id)
    sessions.fail(session_id)
    for _ in range(2):
        with pytest.raises(SessionFailed):
            sessions.claim(COMPANY, NAMESPACE, session_id)
    with pytest.raises(SessionFailed):
        SessionStore(reopen(), DAY, clock).claim(COMPANY, NAMESPACE, session_id)


def test_a_session_is_there_after_reopening(sessions: SessionStore, reopen: Callable[[], CatalogFile], clock) -> None:
    session_id = finished(sessions)
    assert SessionStore(reopen(), DAY, clock).claim(COMPANY, NAMESPACE, session_id).state == b"state"


def test_a_session_left_running_by_a_crash_has_failed(
    sessions: SessionStore, reopen: Callable[[], CatalogFile], clock
) -> None:
    first_turn = begun(sessions)
    later_turn, unharmed = finished(sessions), finished(sessions)
    sessions.claim(COMPANY, NAMESPACE, later_turn)
    again = SessionStore(reopen(), DAY, clock)
    for session_id in (first_turn, later_turn):
        with pytest.raises(SessionFailed):
            again.claim(COMPANY, NAMESPACE, session_id)
    again.claim(COMPANY, NAMESPACE, unharmed)


def test_a_session_expires_a_day_after_its_last_use(sessions: SessionStore, clock) -> None:
    session_id = finished(sessions)
    clock.turn(hours=23.9)
    sessions.claim(COMPANY, NAMESPACE, session_id)
    sessions.save(session_id, b"used")
    clock.turn(hours=23.9)
    assert sessions.load(COMPANY, NAMESPACE, session_id).state == b"used"
    clock.turn(hours=0.1)
    for method in (sessions.load, sessions.claim):
        with pytest.raises(SessionExpired):
            method(COMPANY, NAMESPACE, session_id)


@pytest.mark.parametrize("purged", [False, True])
def test_an_expired_session_says_so_for_seven_days_and_then_never_was(
    sessions: SessionStore, reopen: Callable[[], CatalogFile], clock, purged: bool
) -> None:
    session_id = finished(sessions)
    clock.turn(hours=24)
    for days, error in ((0, SessionExpired), (6.99, SessionExpired), (0.01, SessionNotFound)):
        clock.turn(days=days)
        if purged:
            sessions = SessionStore(reopen(), DAY, clock)
        with pytest.raises(error):
            sessions.load(COMPANY, NAMESPACE, session_id)


def test_purging_forgets_old_sessions_and_the_states_of_expired_ones(
    file: CatalogFile, sessions: SessionStore, clock
) -> None:
    def held() -> dict[str, bytes]:
        with file.read() as cursor:
            return dict(cursor.execute("SELECT id, state FROM sessions").fetchall())

    old = finished(sessions)
    clock.turn(hours=23)
    younger = finished(sessions)
    clock.turn(hours=2)
    assert sessions.purge() == 0
    assert held() == {old: b"", younger: b"state"}
    clock.turn(days=7)
    assert sessions.purge() == 1
    assert sessions.purge() == 0
    assert held() == {younger: b""}


def test_a_long_turn_outlives_its_session(sessions: SessionStore, clock) -> None:
    session_id = finished(sessions)
    sessions.claim(COMPANY, NAMESPACE, session_id)
    clock.turn(days=30)
    sessions.purge()
    sessions.save(session_id, b"late")
    assert sessions.load(COMPANY, NAMESPACE, session_id).state == b"late"


def test_opening_reads_no_state_however_many_have_expired(tmp_path: Path, clock) -> None:
    """More states than the database may hold in memory: opening waits for none, and purging needs few at once."""
    (tmp_path / "small").mkdir()
    file = CatalogFile.open(tmp_path / "small", memory_limit="24MB")
    sessions = SessionStore(file, DAY, clock)
    for number in range(900):
        sessions.add(COMPANY, NAMESPACE, f"sess_{number}", randbytes(45_000))
    sessions.flush()
    clock.turn(days=2)
    again = SessionStore(file, DAY, clock)
    with file.read() as cursor:
        left = "SELECT count(*) FROM sessions WHERE status = 'open'"
        assert cursor.execute(left).fetchone() == (900,)
        assert again.purge() == 0
        assert cursor.execute(left).fetchone() == (0,)
    with pytest.raises(SessionExpired):
        again.load(COMPANY, NAMESPACE, "sess_7")
    clock.turn(days=8)
    assert again.purge() == 900
    file.close()


def test_turns_wait_for_a_small_step_of_a_purge_and_not_for_all_of_it(
    file: CatalogFile, sessions: SessionStore, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with file.write() as cursor:
        now = to_ms(clock())
        values = "'sess_' || n, 1, 10, 'state'::BLOB, 'open', $1, $1, $2"
        cursor.execute(f"INSERT INTO sessions SELECT {values} FROM range(350) t(n)", [now, now + 1])
    write = file.write
    left: list[tuple[int, int]] = []

    @contextmanager
    def noted() -> Iterator[Cursor]:
        with write() as cursor:
            yield cursor
            left.extend(cursor.execute("SELECT count(*), count(*) FILTER (status = 'open') FROM sessions").fetchall())

    monkeypatch.setattr(file, "write", noted)
    clock.turn(days=1)
    assert sessions.purge() == 0
    clock.turn(days=8)
    assert sessions.purge() == 350
    assert left == [(350, 250), (350, 150), (350, 50), (350, 0), (250, 0), (150, 0), (50, 0), (0, 0)]


def test_a_company_keeps_the_sessions_that_it_used_last(
    sessions: SessionStore, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_sessions, "MAX_SESSIONS", 3)
    made = []
    for _ in range(5):
        made.append(finished(sessions))
        clock.turn(seconds=1)
    sessions.save(made[0], b"used again")
    assert sessions.purge() == 2
    for kept in (made[0], *made[3:]):
        assert sessions.load(COMPANY, NAMESPACE, kept).status == "open"


def test_a_dropped_namespace_takes_its_sessions_along(file: CatalogFile, clock) -> None:
    catalog = Catalog(file, clock)
    company = catalog.company("default")
    dropped, kept = (added(catalog, name) for name in ("dropped", "kept"))
    sessions = SessionStore(file, DAY, clock)
    gone, stays = (begun(sessions, company.id, n.id) for n in (dropped, kept))
    catalog.drop_namespace(dropped.id)
    with pytest.raises(SessionNotFound):
        sessions.load(company.id, dropped.id, gone)
    assert sessions.load(company.id, kept.id, stays).status == "running"
    sessions.save(gone, b"too late")
    with pytest.raises(SessionNotFound):
        sessions.load(company.id, dropped.id, gone)
