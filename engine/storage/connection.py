"""DuckDB connections: hardened settings, one writer, a cursor for each reader. The only caller of ``duckdb.connect``.

A connection object of the driver must not be shared between threads (rows go missing without an error), so every
read borrows a cursor of its own. Errors of the driver leave these blocks as errors of the engine.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias, cast

import duckdb

from engine.errors import EngineClosed, StorageError
from engine.interruption import watched
from engine.storage import allocator
from engine.storage.cursor import Cursor, insert_rows
from engine.storage.files import translated_os_errors
from engine.storage.lock import hold_file
from engine.storage.translation import translated_errors

__all__ = ["Cursor", "Database", "connect", "insert_rows", "transaction", "translated_errors"]

LEAST_LOG = 16 * 2**20
MOST_LOG = 32 * 2**20
LOG_SHARE = 8
"""The log at which a commit also checkpoints: an eighth of the file, between these bounds (bytes). What was written
since the last checkpoint is in memory as well, in each namespace that is open; a checkpoint takes time by the size of
the file, so that lower bounds slow quick successions of uploads."""

# Statements, because options given to `connect` are applied in no order, and some refuse to come after others.
#
# The optimizer that is switched off makes a join of every list of constants: for the ten labels of a search, or the few
# values of a filter, that costs more than comparing them. Longer lists are parameters, and joined all the same.
_HARDENING = f"""
    SET disabled_optimizers = 'in_clause';
    SET allow_persistent_secrets = false;
    SET allow_community_extensions = false;
    SET autoinstall_known_extensions = false;
    SET autoload_known_extensions = false;
    SET python_enable_replacements = false;
    SET enable_external_access = false;
    SET allowed_configs = ['{allocator.SETTING}', 'checkpoint_threshold'];
    SET lock_configuration = true;
"""

ConfigValue: TypeAlias = str | bool | int | float | list[str]

_IDLE_CURSORS = 16
_NO_LIMIT = 2**40
_CLOSE_PATIENCE_S = 5.0
_INTERRUPT_PAUSE_S = 0.02


@contextmanager
def transaction(cursor: Cursor) -> Generator[Cursor]:
    """Run the block in a transaction: committed when it ends, rolled back on any exception whatever.

    After any failed statement DuckDB's COMMIT reports success and keeps nothing. So a block that swallowed an error
    of the database is refused here too, instead of being acknowledged and lost.

    Raises:
        StorageError: a statement or the commit failed; nothing was stored. Its kinds are those of `translated_errors`.
    """
    with translated_errors(), _committed(cursor):
        yield cursor


@contextmanager
def _committed(cursor: Cursor) -> Generator[None]:
    cursor.execute("BEGIN TRANSACTION")
    try:
        yield
        # Fails when the transaction was aborted, which COMMIT would not.
        cursor.execute("SELECT 1").fetchone()
        cursor.execute("COMMIT")
    except BaseException:
        # A rollback that fails must not hide why it was needed.
        with suppress(Exception):
            cursor.execute("ROLLBACK")
        raise


class Database:
    """One DuckDB file: a pool of reading cursors and one writing cursor. Thread-safe."""

    def __init__(self, path: Path, config: Mapping[str, ConfigValue]) -> None:
        self.path = path
        self._wal = path.with_name(path.name + ".wal")
        self._config = dict(config)
        self._writing = threading.Lock()
        self._state = threading.Condition()
        self._idle: list[Cursor] = []
        self._borrowed: set[Cursor] = set()
        self._broken = False
        self._log_limit = 0
        self._pins = 0
        self._root: Cursor | None = self._open()
        self._writer: Cursor | None = None
        self._own_lock: IO[bytes] | None = None

    @property
    def is_broken(self) -> bool:
        """The instance failed for good (a full disk during a checkpoint does that); `reopen` mends it."""
        return self._broken

    @contextmanager
    def reader(self) -> Generator[Cursor]:
        """A cursor of the caller's own; each statement sees the last commit before it. Nested use gives another one.

        Raises:
            SearchTimeout: the search that this thread works for was stopped; see `Interruption`.
        """
        cursor = self._borrow()
        healthy = False
        try:
            with translated_errors(self._mark_broken), watched(cursor):
                yield cursor
                # An unread result would hold an old snapshot for as long as the cursor idles.
                cursor.abort()
            healthy = True
        finally:
            self._give_back(cursor, reusable=healthy)

    @contextmanager
    def snapshot(self) -> Generator[Cursor]:
        """A cursor all of whose statements see one and the same commit."""
        with self.reader() as cursor, translated_errors(self._mark_broken):
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            try:
                yield cursor
            finally:
                with suppress(duckdb.Error):
                    cursor.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Generator[Cursor]:
        """The writing cursor in a transaction; waits for the writer before it. See `transaction` of this module.

        Raises:
            StorageError: nothing was stored; of its kinds, `StorageFull` leaves the database usable.
        """
        with self._writing, translated_errors(self._mark_broken):
            root = self._require_root()
            if self._writer is None:
                self._writer = root.cursor()
            writer = self._writer
            try:
                self._fit_log(writer)
                with _committed(writer):
                    yield writer
            except BaseException:
                # Should the rollback have failed as well, closing ends the transaction.
                self._writer = None
                with suppress(duckdb.Error):
                    writer.close()
                raise

    def checkpoint(self) -> bool:
        """Move the WAL into the database file; False where a running read or copy still needs what the WAL replaces.

        Needs free disk space of about the WAL's size: a full disk here breaks the instance.
        """
        with self._writing, translated_errors(self._mark_broken):
            if self._pins:
                return False
            cursor = self._require_root().cursor()
            try:
                cursor.execute("CHECKPOINT")
            except duckdb.TransactionException as error:
                if "cannot checkpoint" not in str(error).lower():
                    raise
                return False
            finally:
                cursor.close()
        return True

    @property
    def log_bytes(self) -> int:
        """Size of the WAL, which is in memory as well.

        After a commit it can be any multiple of what makes a commit checkpoint: DuckDB counts long texts as nothing.
        """
        with translated_os_errors():
            try:
                return self._wal.stat().st_size
            except FileNotFoundError:
                return 0

    @contextmanager
    def pinned(self) -> Generator[int]:
        """Keep the file as it is within the block: commits go on, in the log alone. The log's length now, in bytes.

        The file and so much of its log are a consistent copy; `hot_copy` makes one.
        """
        with self._writing:
            self._require_root()
            self._pins += 1
            length = self.log_bytes
        try:
            yield length
        finally:
            with self._writing:
                self._pins -= 1
                if self._root is not None:
                    # Whoever copied the file has closed it, and that ended DuckDB's lock on it.
                    self._own_lock = hold_file(self.path, self._own_lock)

    def reopen(self) -> None:
        """Open the file anew after a fatal error; running readers are interrupted and waited for.

        Raises:
            StorageError: readers did not end in time, or the file cannot be opened.
        """
        with self._writing:
            if not self._shut():
                raise StorageError("The database cannot be opened again while a query is still running.")
            root = self._open()
            with self._state:
                self._root, self._broken = root, False

    def close(self) -> None:
        """Close every cursor; running readers are interrupted. Checkpoints unless broken. Further calls do nothing."""
        with self._writing:
            self._shut()

    def _fit_log(self, writer: Cursor) -> None:
        """Have a commit checkpoint at a log that fits the size of the file, and never on a disk that is nearly full."""
        with translated_os_errors():
            size = self.path.stat().st_size
            free = shutil.disk_usage(self.path.parent).free
        limit = min(max(size // LOG_SHARE, LEAST_LOG), MOST_LOG)
        # A power of two, as the file changes a little with every checkpoint.
        limit = 1 << limit.bit_length() - 1
        if self._pins or free < 2 * limit:
            # A commit that finds no space fails by itself; a checkpoint takes the whole instance with it.
            limit = _NO_LIMIT
        if limit != self._log_limit:
            writer.execute(f"SET checkpoint_threshold = '{limit}B'")
            self._log_limit = limit

    def _open(self) -> Cursor:
        root: Cursor | None = None
        with translated_errors():
            try:
                root = cast("Cursor", duckdb.connect(self.path, config=self._config))
                root.execute(_HARDENING)
                self._log_limit = 0
                allocator.joined(root)
            except BaseException:
                if root is not None:
                    root.close()
                allocator.resume()
                raise
            return root

    def _require_root(self) -> Cursor:
        if self._root is None:
            raise EngineClosed
        if self._broken:
            raise StorageError("The database stopped after an internal failure and must be opened again.")
        return self._root

    def _borrow(self) -> Cursor:
        with self._state:
            root = self._require_root()
            cursor = self._idle.pop() if self._idle else root.cursor()
            self._borrowed.add(cursor)
            return cursor

    def _give_back(self, cursor: Cursor, *, reusable: bool) -> None:
        with self._state:
            self._borrowed.discard(cursor)
            if reusable and self._root is not None and not self._broken and len(self._idle) < _IDLE_CURSORS:
                self._idle.append(cursor)
            else:
                with suppress(duckdb.Error):
                    cursor.close()
            self._state.notify_all()

    def _mark_broken(self) -> None:
        self._broken = True

    def _shut(self) -> bool:
        """Close all that is ours; whether every borrowed cursor came back. The caller holds `_writing`."""
        with self._state:
            root, self._root = self._root, None
            idle, self._idle = self._idle, []
            writer, self._writer = self._writer, None
            patience = time.monotonic() + _CLOSE_PATIENCE_S
            while self._borrowed and time.monotonic() < patience:
                for cursor in self._borrowed:
                    cursor.interrupt()
                self._state.wait(_INTERRUPT_PAUSE_S)
            returned = not self._borrowed
        if root is not None:
            allocator.left(root)
        for cursor in (*idle, writer, root):
            if cursor is not None:
                with suppress(duckdb.Error):
                    cursor.close()
        allocator.resume()
        if self._own_lock is not None:
            self._own_lock.close()
            self._own_lock = None
        return returned


@contextmanager
def read_only(path: Path) -> Generator[Cursor]:
    """Read a database that nobody has open, with its log, and change neither.

    Raises:
        CorruptData: it is damaged.
    """
    with translated_errors():
        cursor = cast("Cursor", duckdb.connect(path, read_only=True, config={"threads": 1}))
        try:
            yield cursor
        finally:
            cursor.close()


def connect(
    path: Path,
    *,
    threads: int,
    memory_limit: str,
    temp_directory: Path | None = None,
) -> Database:
    """Open a database file, or make it.

    SQL can reach nothing but this file: no other files, no extensions, no settings.

    Args:
        threads: for the statements of all cursors together.
        memory_limit: as DuckDB reads it, such as ``2GB``.
        temp_directory: where large sorts spill; beside the file when None.

    Raises:
        DataDirectoryLocked: another process has it open.
        CorruptData: it is damaged.
        StorageError: it cannot be opened.
    """
    config: dict[str, ConfigValue] = {
        "threads": threads,
        # The default of 8 a database makes 600 threads of 64 open namespaces; files here are local.
        "async_threads": 1,
        "memory_limit": memory_limit,
        "max_temp_directory_size": "10GB",
    }
    if temp_directory is not None:
        config["temp_directory"] = str(temp_directory)
    return Database(path, config)
