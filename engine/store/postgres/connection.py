"""Connections to one database: a pool with limits, and transactions, which are tried again where that is safe."""

from __future__ import annotations

import logging
import select
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict

from engine.errors import EngineClosed, InvalidRequest, SearchTimeout, StorageError
from engine.interruption import watched
from engine.store.postgres.failures import CommitLost, is_lost, is_passing, translated_errors

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
_T = TypeVar("_T")
_log = logging.getLogger(__name__)

MOST_CONNECTIONS = 12
"""Of one server process; as many threads read, write and search at once."""
CONNECT_S = 5
WAIT_S = 10.0
"""For a connection, while all are in use."""
STATEMENT_MS = 60_000
"""A statement is stopped after so long, waiting for another writer included; an upload of 10,000 documents takes a
tenth."""
LOCK_MS = 50_000
"""Of that, for a lock: another writer of the namespace, a reindex, or a transaction that somebody left open."""
ATTEMPTS = 4
PAUSE_S = 0.1
"""Before the second attempt; doubles with each."""
ASKED_S = 5.0
"""How long it is asked what became of a commit whose answer was lost."""

_SETTINGS = (
    "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false), "
    "set_config('TimeZone', 'UTC', false), "
    "set_config('search_path', concat_ws(', ', 'quarry', 'public', (SELECT quote_ident(nspname) FROM pg_extension "
    "JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector')), false)"
)
EF_SEARCH = 300
"""Breadth of a query in a graph, for the 100 candidates of a hybrid query; others set it for their transaction."""
_GRAPHS = b"SELECT set_config('hnsw.ef_search', '%d', false)" % EF_SEARCH


class _Stoppable:
    """Lets another thread stop the statement of a connection; the connection is then given up."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_fired = False

    def interrupt(self) -> None:
        if not self.is_fired:
            self.is_fired = True
            # Asking the server takes a connection of its own; whoever interrupts waits for nothing.
            threading.Thread(target=self._cancel, name="quarry-cancel", daemon=True).start()

    def _cancel(self) -> None:
        with suppress(psycopg.Error, OSError):
            self._connection.cancel_safe(timeout=CONNECT_S)


class Pool:
    """Connections of one process to one database, made when they are needed. Thread-safe.

    Args:
        dsn: as libpq has it; passwords may also come from ``PGPASSWORD``, a password file or a service file.
        vectors: the extension is there; its types are registered.

    Raises:
        InvalidRequest: `dsn` cannot be read.
    """

    def __init__(self, dsn: str, *, vectors: bool = True, most: int = MOST_CONNECTIONS) -> None:
        try:
            self._parameters: dict[str, Any] = dict(conninfo_to_dict(dsn))
        except psycopg.Error:
            # Its text may quote the password.
            raise InvalidRequest(
                "The address of the database cannot be read; its form is postgresql://USER@HOST:PORT/NAME.", path="data"
            ) from None
        self._parameters.setdefault("connect_timeout", CONNECT_S)
        self._parameters.setdefault("application_name", "quarry")
        self._vectors = vectors
        self._spare = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._held = threading.local()
        self._is_closed = False

    def close(self) -> None:
        """Give every connection back to the server; may be called again."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One snapshot for the block's statements: that of the surrounding `snapshot`, else one of its own."""
        held: Connection | None = getattr(self._held, "connection", None)
        if held is not None:
            with translated_errors():
                yield held
            return
        with self.reading_apart() as connection:
            yield connection

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """The result of `work`, which runs one statement; again, a few times, when the database went away meanwhile.

        One statement is a snapshot without a transaction around it, which would take three times as long.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
            try:
                with self._single() as connection:
                    return work(connection)
            except StorageError as error:
                is_held = getattr(self._held, "connection", None) is not None
                if is_held or not is_passing(error.__cause__) or attempt + 1 == ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """As `reading`, for every `reading` of this thread within the block."""
        if getattr(self._held, "connection", None) is not None:
            with self.reading() as connection:
                yield connection
            return
        with self.reading_apart() as connection:
            self._held.connection = connection
            try:
                yield connection
            finally:
                self._held.connection = None

    @contextmanager
    def reading_apart(self) -> Generator[Connection]:
        """A snapshot of its own, whatever surrounds it. Stopped by the search's `Interruption`."""
        with self._stoppable("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _single(self) -> Generator[Connection]:
        """For one statement, in the snapshot that this thread holds, if it holds one."""
        if getattr(self._held, "connection", None) is not None:
            with self.reading() as connection:
                yield connection
            return
        with self._stoppable(None) as connection:
            yield connection

    @contextmanager
    def _stoppable(self, begin: str | None) -> Generator[Connection]:
        """A connection whose statements the search's `Interruption` stops."""
        with self._borrowed(begin) as connection:
            stoppable = _Stoppable(connection)
            try:
                with watched(stoppable), translated_errors():
                    yield connection
            except StorageError as error:
                if stoppable.is_fired:
                    raise SearchTimeout("The search was stopped.") from error
                raise
            finally:
                if stoppable.is_fired:
                    # The request to stop may still be under way, and must not meet the next user's statement.
                    connection.close()

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction: committed when the block ends, rolled back on any exception. Nothing is repeated."""
        with self._borrowed("BEGIN") as connection, translated_errors():
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def apart(self) -> Generator[Connection]:
        """A connection without a transaction, for statements that refuse one."""
        with self._borrowed(None) as connection, translated_errors():
            yield connection

    def written(self, work: Callable[[Connection], _T]) -> _T:
        """The result of `work` in a transaction that was committed, once.

        Run again, a few times, when the server broke it off or went away before the commit. When the answer to the
        commit itself is lost, the server is asked what became of the transaction.

        Raises:
            CommitLost: it cannot say. An upload may be repeated: that changes nothing.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
            done: tuple[_T, str] | None = None
            try:
                with self._borrowed("BEGIN") as connection, translated_errors():
                    done = work(connection), _number(connection)
                    connection.execute("COMMIT")
                    return done[0]
            except StorageError as error:
                if done is not None and is_lost(error.__cause__):
                    if self._was_committed(done[1], error):
                        return done[0]
                elif not is_passing(error.__cause__):
                    raise
                if attempt + 1 == ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def _was_committed(self, number: str, lost: StorageError) -> bool:
        """What became of a transaction whose commit was not answered."""
        until = time.monotonic() + ASKED_S
        while time.monotonic() < until:
            with suppress(StorageError), self._borrowed(None) as connection, translated_errors():
                row = connection.execute("SELECT pg_xact_status(%s::xid8)", [number]).fetchone()
                if row == ("committed",):
                    return True
                if row == ("aborted",):
                    return False
            time.sleep(PAUSE_S)
        raise CommitLost("The database was lost while it stored this, and cannot say whether it did.") from lost

    @contextmanager
    def _borrowed(self, begin: str | None) -> Generator[Connection]:
        """A connection on which `begin` was run; it goes back in the state it should have, or is given up."""
        if not self._spare.acquire(timeout=WAIT_S):
            raise StorageError("The database is busy: every connection of this server is in use.")
        try:
            connection = self._begun(begin)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._spare.release()

    def _begun(self, begin: str | None) -> Connection:
        """A connection after its first statement, which tells whether the server is still there."""
        while (connection := self._take_idle()) is not None:
            try:
                if begin is not None:
                    connection.execute(begin.encode())
            except psycopg.Error:
                connection.close()
            else:
                return connection
        with translated_errors():
            connection = self._connect()
            if begin is not None:
                connection.execute(begin.encode())
        return connection

    def _take_idle(self) -> Connection | None:
        while True:
            with self._lock:
                if self._is_closed:
                    raise EngineClosed
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if _is_quiet(connection):
                return connection
            connection.close()

    def _connect(self) -> Connection:
        connection: Connection = psycopg.connect(**self._parameters, autocommit=True)
        try:
            connection.execute(_SETTINGS, [str(STATEMENT_MS), str(LOCK_MS)])
            if self._vectors:
                register_vector(connection)
                connection.execute(_GRAPHS)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Connection) -> None:
        if not connection.closed and connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                connection.close()
        with self._lock:
            if not connection.closed and not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()


def _number(connection: Connection) -> str:
    row = connection.execute("SELECT pg_current_xact_id()::text").fetchone()
    return str(row[0]) if row else ""


def _is_quiet(connection: Connection) -> bool:
    """Whether an idle connection is as it was left: the end of a server shows as input on its socket."""
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
