"""The driver's errors as the engine's.

What the server refuses for lack of space is `StorageFull`; a lost connection, a failover or a serialization failure is
passing: its transaction may be tried again as a whole. No message holds an address, a user or a password.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from engine.errors import StorageError, StorageFull

_PASSING = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.ReadOnlySqlTransaction,
)

_AWAY = "The database cannot be reached."


class CommitLost(StorageError):
    """The connection was lost while a commit was under way, and the database cannot say whether it happened."""


@contextmanager
def translated_errors() -> Generator[None]:
    """Turn what the driver raises into `StorageError`."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error) from error


def _translated(error: psycopg.Error) -> StorageError:
    match error:
        case errors.DiskFull() | errors.OutOfMemory():
            return StorageFull("The database has no space left.")
        case errors.TooManyConnections():
            return StorageError(
                "The database accepts no more connections: raise max_connections, or run fewer servers."
            )
        case errors.InvalidPassword() | errors.InvalidAuthorizationSpecification():
            return StorageError("The database refuses the user or the password.")
        case errors.InvalidCatalogName():
            return StorageError("There is no database of that name on the server: CREATE DATABASE first.")
        case errors.InsufficientPrivilege():
            return StorageError("The database user lacks a right that Quarry needs; see docs/scale.md.")
        case errors.UndefinedTable() | errors.InvalidSchemaName() | errors.UndefinedColumn():
            return StorageError(
                "A table of Quarry is missing in the database: restore a backup, or drop the schema `quarry`."
            )
        case errors.LockNotAvailable():
            return StorageError(
                "Another transaction holds this namespace: a long upload, a reindex, or one that was left open; "
                "pg_stat_activity of the database lists them."
            )
        case errors.QueryCanceled():
            return StorageError("The database took too long for a statement.")
        case errors.ReadOnlySqlTransaction():
            return StorageError("The database takes no writes now: it is a replica, or is switching over to one.")
        case psycopg.OperationalError() if error.sqlstate is None:
            return _unreached(str(error))
        case psycopg.OperationalError():
            return StorageError("The database cannot be used now.")
        case _:
            return StorageError("The database refused a statement.")


def _unreached(said: str) -> StorageError:
    """Connecting fails without a code; libpq's text, which names addresses and users, says why."""
    if "password" in said or "authentication" in said or "no pg_hba.conf entry" in said:
        return StorageError("The database refuses the user or the password.")
    if "database" in said and "does not exist" in said:
        return StorageError("There is no database of that name on the server: CREATE DATABASE first.")
    if "role" in said and "does not exist" in said:
        return StorageError("The database refuses the user or the password.")
    if "SSL" in said or "certificate" in said:
        return StorageError("The database and this server cannot agree on TLS; see sslmode and sslrootcert of libpq.")
    return StorageError(_AWAY)


def is_passing(error: BaseException | None) -> bool:
    """Whether the same transaction may succeed when it is begun again."""
    return isinstance(error, _PASSING) or is_lost(error)


def is_lost(error: BaseException | None) -> bool:
    """Whether the connection went away, with or without a last word of the server."""
    if isinstance(error, (errors.AdminShutdown, errors.CrashShutdown)):
        return True
    if not isinstance(error, psycopg.OperationalError) or error.sqlstate is not None:
        return False
    # A wrong password does not get better by being tried again.
    return _translated(error).message == _AWAY
