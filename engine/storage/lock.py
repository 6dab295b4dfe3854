"""The lock on a data directory: one engine at a time, and a message that names it.

The operating system holds the lock for as long as the file is open, so a process that dies leaves nothing to clean
up; the text in the file only serves the message.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path
from typing import IO

import msgspec

from engine.errors import DataDirectoryLocked
from engine.model.clock import Clock, utc_now
from engine.storage.files import PRIVATE, PRIVATE_FILE, translated_os_errors

LOCK_FILE = "LOCK"

_held: set[Path] = set()
_guard = threading.Lock()


class _Owner(msgspec.Struct, frozen=True):
    pid: int
    host: str
    since: str


class DirectoryLock:
    """Exclusive use of one data directory, until `release` or the end of the process."""

    def __init__(self, directory: Path, file: IO[bytes]) -> None:
        self._directory = directory
        self._file: IO[bytes] | None = file

    @classmethod
    def acquire(cls, directory: Path, clock: Clock = utc_now) -> DirectoryLock:
        """Lock `directory`, which is made when missing.

        Raises:
            DataDirectoryLocked: an engine of this or another process has it; the message says which.
            StorageError: the directory cannot be made or written.
        """
        with translated_os_errors():
            if not directory.exists():
                directory.mkdir(parents=True, mode=PRIVATE)
            directory = directory.resolve()
            with _guard:
                if directory in _held:
                    raise DataDirectoryLocked("The data directory is already open in this process.")
                # Opened without truncating: until the lock is ours, the text belongs to its owner.
                file = os.fdopen(
                    os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, PRIVATE_FILE), "r+b", buffering=0
                )
                if not _lock(file):
                    message = _describe_owner(file)
                    file.close()
                    raise DataDirectoryLocked(message)
                _held.add(directory)
            owner = _Owner(os.getpid(), socket.gethostname(), clock().isoformat(timespec="seconds"))
            held = cls(directory, file)
            try:
                file.truncate(0)
                file.write(msgspec.json.encode(owner) + b"\n")
            except BaseException:
                # Else this process could not try again.
                held.release()
                raise
        return held

    def release(self) -> None:
        """Let the next one in; further calls do nothing."""
        with _guard:
            file, self._file = self._file, None
            if file is not None:
                # The file stays: removing it would let two processes lock two files of the same name.
                file.close()
                _held.discard(self._directory)


def _describe_owner(file: IO[bytes]) -> str:
    try:
        file.seek(0)
        owner = msgspec.json.decode(file.read(1024), type=_Owner)
    except (OSError, msgspec.DecodeError):
        return "The data directory is in use by another process."
    return f"The data directory is in use by process {owner.pid} on {owner.host}, since {owner.since}."


def hold_file(path: Path, held: IO[bytes] | None) -> IO[bytes] | None:
    """Lock the database file `path` for this process again, after it was opened and closed for a copy.

    POSIX drops all locks of a process on a file when the process closes any of its descriptors.

    Args:
        held: what the last call for the same file gave.

    Returns:
        The open file that holds the lock; None where copying a file does not end its locks.
    """
    if sys.platform == "win32":
        return None
    file = held or path.open("r+b", buffering=0)
    # The owner of the lock is the process, so its own earlier lock never conflicts.
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


if sys.platform == "win32":
    import msvcrt

    # Far behind the text, which another process must still be able to read.
    _LOCKED_BYTE = 1 << 20

    def _lock(file: IO[bytes]) -> bool:
        file.seek(_LOCKED_BYTE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        file.seek(0)
        return True
else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
