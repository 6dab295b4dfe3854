"""Opening a file that somebody may exchange meanwhile: no link is followed, no pipe waited for."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

from api.files.pieces import SkippedFile, UnreadableFile
from api.files.walk import Found

_CHUNK = 2**20


@contextmanager
def opened_file(found: Found) -> Generator[BinaryIO]:
    """The file, opened for reading.

    Raises:
        UnreadableFile: not readable, gone, or it was exchanged for a link that leaves its folder; when the block
            ends without an error, also that the file was written to in between.
        SkippedFile: no regular file any more.
    """
    try:
        # Without O_NONBLOCK a named pipe waits for its writer, for ever.
        number = os.open(found.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableFile(error.strerror or "cannot be read") from error
    with os.fdopen(number, "rb") as file:
        before = os.fstat(number)
        if not stat.S_ISREG(before.st_mode):
            raise SkippedFile("no regular file")
        if os.path.realpath(found.path) != found.path:
            raise UnreadableFile("a folder of its path became a link")
        try:
            yield file
        except OSError as error:
            raise UnreadableFile(error.strerror or "cannot be read") from error
        after = os.fstat(number)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise UnreadableFile("changed while it was read; ingest it again")


def content_hash(file: BinaryIO) -> bytes:
    """SHA-256 of the whole file."""
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()
