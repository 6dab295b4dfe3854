"""What was ingested before: a small SQLite file beside the data, so that unchanged files need not be read again.

It is a memory aid, not the truth: without it every file is read again, to the same ids.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

FILE_NAME = "ingested.sqlite3"

_TABLES = """
    CREATE TABLE IF NOT EXISTS files (
        namespace INTEGER NOT NULL, path BLOB NOT NULL, name TEXT NOT NULL, fingerprint BLOB,
        PRIMARY KEY (namespace, path)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS documents (
        namespace INTEGER NOT NULL, id TEXT NOT NULL, path BLOB NOT NULL, run INTEGER NOT NULL,
        PRIMARY KEY (namespace, id)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS documents_of_file ON documents (namespace, path, run);
"""


class LedgerError(Exception):
    """The ledger cannot be read or written; the message names the file."""


class Ledger:
    """The files of one namespace and the documents that came from each; paths are absolute.

    A document belongs to the file that wrote it last.
    """

    def __init__(self, database: sqlite3.Connection, namespace_id: int) -> None:
        self._database = database
        self._namespace = namespace_id
        (last,) = database.execute("SELECT coalesce(max(run), 0) FROM documents").fetchone()
        self._run: int = last + 1

    @classmethod
    def open(cls, folder: Path, namespace_id: int) -> Ledger:
        """The ledger in the data directory `folder`, made when there is none. Raises `LedgerError`."""
        path = folder / FILE_NAME
        try:
            # Names of files are nobody else's business.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            database = sqlite3.connect(path)
            database.executescript(_TABLES)
            return cls(database, namespace_id)
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(f"{path} cannot be used ({error}); remove it, and every file is read again") from error

    def close(self) -> None:
        self._database.close()

    def name_of(self, path: str) -> str | None:
        """The name under which the file was ingested before."""
        row = self._one("SELECT name FROM files WHERE namespace = ? AND path = ?", _raw(path))
        return str(row[0]) if row else None

    def fingerprint(self, path: str) -> bytes | None:
        """That of the content that was stored in full; None for none."""
        row = self._one("SELECT fingerprint FROM files WHERE namespace = ? AND path = ?", _raw(path))
        return row[0] if row else None

    def any_id(self, path: str) -> str | None:
        """The id of one document of the file."""
        row = self._one("SELECT min(id) FROM documents WHERE namespace = ? AND path = ?", _raw(path))
        return str(row[0]) if row and row[0] is not None else None

    def owner(self, document_id: str) -> str | None:
        """The file that wrote the document last."""
        row = self._one("SELECT path FROM documents WHERE namespace = ? AND id = ?", document_id)
        return os.fsdecode(row[0]) if row else None

    def below(self, folder: str) -> list[str]:
        """Every file that was ingested from `folder`, in order."""
        prefix = os.fsencode(folder.rstrip(os.sep) + os.sep)
        with closing(self._database.cursor()) as cursor:
            rows = cursor.execute("SELECT path FROM files WHERE namespace = ? ORDER BY path", (self._namespace,))
            return [os.fsdecode(row[0]) for row in rows if row[0].startswith(prefix)]

    def wrote(self, path: str, name: str, ids: Iterable[str]) -> None:
        """Documents of a file were stored; the file as a whole is not yet."""
        with self._database as database:
            database.execute(
                "INSERT INTO files VALUES (?, ?, ?, NULL) "
                "ON CONFLICT DO UPDATE SET name = excluded.name, fingerprint = NULL",
                (self._namespace, _raw(path), name),
            )
            database.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET path = excluded.path, run = excluded.run",
                [(self._namespace, each, _raw(path), self._run) for each in ids],
            )

    def stale(self, path: str) -> list[str]:
        """Documents that the file held in an earlier run and not in this one."""
        rows = self._database.execute(
            "SELECT id FROM documents WHERE namespace = ? AND path = ? AND run < ?",
            (self._namespace, _raw(path), self._run),
        )
        return [str(row[0]) for row in rows]

    def documents(self, path: str) -> list[str]:
        """Every document of the file."""
        rows = self._database.execute(
            "SELECT id FROM documents WHERE namespace = ? AND path = ?", (self._namespace, _raw(path))
        )
        return [str(row[0]) for row in rows]

    def removed(self, ids: Sequence[str]) -> None:
        """Documents are no longer there."""
        with self._database as database:
            database.executemany(
                "DELETE FROM documents WHERE namespace = ? AND id = ?", [(self._namespace, each) for each in ids]
            )

    def finished(self, path: str, fingerprint: bytes) -> None:
        """All of the file is stored, and nothing of what it held before is left."""
        with self._database as database:
            database.execute(
                "UPDATE files SET fingerprint = ? WHERE namespace = ? AND path = ?",
                (fingerprint, self._namespace, _raw(path)),
            )

    def forget(self, path: str) -> None:
        """The file is gone, and its documents with it."""
        with self._database as database:
            for table in ("documents", "files"):
                database.execute(f"DELETE FROM {table} WHERE namespace = ? AND path = ?", (self._namespace, _raw(path)))  # noqa: S608 - names of ours

    def _one(self, statement: str, value: object) -> Any:
        return self._database.execute(statement, (self._namespace, value)).fetchone()


def _raw(path: str) -> bytes:
    return os.fsencode(path)
