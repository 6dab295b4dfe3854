"""ZIP containers of office files and books, opened so that a small file cannot unpack into an endless one."""

from __future__ import annotations

import zipfile
import zlib

from api.files.pieces import Source, UnreadableFile

MAX_ARCHIVE = 512 * 2**20
"""Bytes of the container."""

MAX_UNPACKED = 1024 * 2**20
"""Bytes of all members together, unpacked."""

MAX_MEMBER = 256 * 2**20
"""Bytes of one member, unpacked: text of this size is a thousand books."""

MAX_MEMBERS = 20_000
MAX_RATIO = 250
"""Unpacked bytes for each packed byte. Deflate reaches 1,030; the XML of office files 10 to 60."""

_SMALL = 4 * 2**20
"""Bytes up to which a member may pack as well as it likes: templates are full of spaces."""

_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, KeyError, ValueError, OSError)


def opened_archive(source: Source) -> zipfile.ZipFile:
    """The container, its sizes checked by its table of contents.

    Python reads no more of a member than the table says, so that a table that lies is found as damage.

    Raises:
        UnreadableFile: no ZIP, damaged, encrypted, or it unpacks into more than the limits.
    """
    source.content_fits(MAX_ARCHIVE)
    source.file.seek(0)
    try:
        archive = zipfile.ZipFile(source.file)
        members = archive.infolist()
    except _UNREADABLE as error:
        raise UnreadableFile("damaged: it is no ZIP container") from error
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableFile("encrypted")
    if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED:
        raise UnreadableFile("it unpacks into too much")
    for member in members:
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > MAX_MEMBER or (member.file_size > _SMALL and ratio > MAX_RATIO):
            raise UnreadableFile("it unpacks into too much")
    return archive


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One member, unpacked. Raises `UnreadableFile` when it is missing or damaged."""
    try:
        return archive.read(name)
    except _UNREADABLE as error:
        raise UnreadableFile(f"damaged: {name} cannot be unpacked") from error
