"""Connections to one database: a pool with limits, transactions, and the driver's errors as the engine's.

Grammar of failures: what the server refuses for lack of space is `StorageFull`; a lost connection, a failover or a
serialization failure is tried again as a whole transaction, a few times, and is `StorageError` then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from engine.errors import StorageError, StorageFull

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
_T = TypeVar("_T")

MOST_CONNECTIONS = 12
CONNECT_S = 5.0
WAIT_S = 10.0
STATEMENT_MS = 60_000
"""A statement is stopped after so long; an upload of 10,000 documents takes a tenth."""
ATTEMPTS = 4
PAUSE_S = 0.1
"""Before the second attempt; doubles with each."""

_PASSING = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.ReadOnlySqlTransaction,
)


@contextmanager
def translated_errors() -> Generator[None]:
    """Turn what the driver raises into `StorageError`; messages name no address, user or password."""
    try:
        yield
    except (errors.DiskFull, errors.OutOfMemory) as error:
        raise StorageFull("The database has no space left.") from error
    except PoolTimeout as error:
        raise StorageError("The database gives no connection in time.") from error
    except errors.InvalidPassword as error:
        raise StorageError("The database refuses the user or the password.") from error
    except errors.InsufficientPrivilege as error:
        raise StorageError("The database user lacks a right that Quarry needs; see docs/scale.md.") from error
    except errors.UndefinedTable as error:
        raise StorageError("A table of Quarry is missing in the database.") from error
    except errors.QueryCanceled as error:
        raise StorageError("The database took too long for a statement.") from error
    except psycopg.OperationalError as error:
        raise StorageError("The database cannot be reached.") from error
    except psycopg.Error as error:
        raise StorageError("The database refused a statement.") from error


class Pool:
    """Connections of one process to one database. Thread-safe."""

    def __init__(self, dsn: str, *, vectors: bool = True) -> None:
        def configure(connection: Connection) -> None:
            if vectors:
                register_vector(connection)
                connection.commit()

        self._pool: ConnectionPool[Connection] = ConnectionPool(
            dsn,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=WAIT_S,
            open=False,
            configure=configure,
            check=ConnectionPool.check_connection,
            kwargs={
                "connect_timeout": int(CONNECT_S),
                "application_name": "quarry",
                "options": f"-c statement_timeout={STATEMENT_MS} -c search_path=quarry,public",
            },
        )
        self._pool.open()

    def close(self) -> None:
        """Give every connection back to the server; may be called again."""
        self._pool.close()

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One snapshot for the block's statements."""
        with translated_errors(), self._pool.connection() as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            try:
                with connection.transaction():
                    yield connection
            finally:
                _reset(connection)

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction: committed when the block ends, rolled back on any exception."""
        with translated_errors(), self._pool.connection() as connection, connection.transaction():
            yield connection

    def written(self, work: Callable[[Connection], _T]) -> _T:
        """The result of `work` in a transaction that was committed; run again when the server had to break it off.

        A connection that is lost while the commit is under way leaves open whether it happened; that is an error, for
        the same write must not happen twice. The caller may repeat it: an upload that is repeated changes nothing.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
            try:
                with self.writing() as connection:
                    return work(connection)
            except StorageError as error:
                if attempt + 1 == ATTEMPTS or not isinstance(error.__cause__, _PASSING):
                    raise
        raise AssertionError("unreachable")


def _reset(connection: Connection) -> None:
    if not connection.closed and connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE:
        connection.isolation_level = None
        connection.read_only = None
