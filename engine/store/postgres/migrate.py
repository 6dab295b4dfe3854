"""The tables and their version: made once however many servers start, refused when a newer program wrote them."""

from __future__ import annotations

from importlib import resources

from psycopg import errors

from engine.errors import StorageError, UnsupportedFormat
from engine.store.postgres.connection import Connection, Pool
from engine.store.postgres.failures import translated_errors

VERSION = 2
OLDEST_SERVER = 150_000
_LOCK = 0x51554152
"""Of `pg_advisory_xact_lock`: servers that start together migrate one after the other."""


def migrate(pool: Pool) -> None:
    """Bring the database up to `VERSION`.

    Args:
        pool: without the types of vectors, which may not be there yet.

    Raises:
        UnsupportedFormat: a newer version of Quarry wrote it.
        StorageError: the server is too old, lacks pgvector, is not UTF-8, or the user may not create a schema.
    """
    pool.written(_migrate)


def _migrate(connection: Connection) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise StorageError("PostgreSQL 15 or newer is needed.")
    encoding = connection.execute("SHOW server_encoding").fetchone()
    if encoding != ("UTF8",):
        raise StorageError("The database must be encoded in UTF8: CREATE DATABASE … ENCODING 'UTF8'.")
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    try:
        with connection.transaction(), translated_errors():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except StorageError as error:
        if isinstance(
            error.__cause__, (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege)
        ):
            raise StorageError(
                "The extension pgvector is missing: install it on the server, then CREATE EXTENSION vector."
            ) from error
        raise
    connection.execute("CREATE SCHEMA IF NOT EXISTS quarry")
    connection.execute("CREATE TABLE IF NOT EXISTS quarry.version (version int4 NOT NULL)")
    row = connection.execute("SELECT version FROM quarry.version").fetchone()
    held = int(row[0]) if row else 0
    if held > VERSION:
        raise UnsupportedFormat("The database was written by a newer version of Quarry.")
    for version in range(held + 1, VERSION + 1):
        script = resources.files("engine.store.postgres").joinpath(f"schema_{version}.sql").read_bytes()
        connection.execute(script)
    if held == 0:
        connection.execute("INSERT INTO quarry.version VALUES (%s)", [VERSION])
    elif held < VERSION:
        connection.execute("UPDATE quarry.version SET version = %s", [VERSION])
