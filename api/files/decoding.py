"""Bytes of a text file to text, whatever its encoding."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from api.files.extras import library
from api.files.pieces import Source, UnreadableFile

MAX_TEXT = 256 * 2**20
"""Bytes of a file that is decoded as a whole."""

_CHUNK = 2**20
_SAMPLE = 2**18
"""Bytes that a guess looks at: more makes it slower, hardly better."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(source: Source) -> str:
    """The file as text; a line feed ends each line.

    Raises:
        UnreadableFile: not text, not in the encoding that was given, or too large.
    """
    raw = source.content(MAX_TEXT)
    encoding = encoding_of(source)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"not {encoding} text at byte {error.start:,}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def encoding_of(source: Source) -> str:
    """The encoding that was given, or that the file's bytes speak for; a guess is noted.

    Raises:
        UnreadableFile: the bytes are no text, or the encoding is unknown.
    """
    if source.options.encoding:
        try:
            with suppress(UnicodeError):
                # Some codecs turn bytes into bytes: only decoding tells.
                b"a".decode(source.options.encoding)
            return codecs.lookup(source.options.encoding).name
        except (LookupError, ValueError):
            raise UnreadableFile(f"unknown encoding {source.options.encoding!r}") from None
    source.file.seek(0)
    head = source.file.read(_SAMPLE)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        raise UnreadableFile("not text: it holds zero bytes")
    wrong = _not_utf8(source.file)
    if wrong is None:
        return "utf-8"
    guessed = _guess(head, wrong)
    source.note(f"read as {guessed}")
    return guessed


def text_lines(source: Source) -> io.TextIOWrapper:
    """The file as a stream of text whose line ends are kept, for a reader of tables."""
    encoding = encoding_of(source)
    source.file.seek(0)
    return io.TextIOWrapper(source.file, encoding=encoding, newline="")


def _not_utf8(file: BinaryIO) -> int | None:
    """The first byte that is not UTF-8; None when all of the file is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    for chunk in _chunks(file):
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return max(0, read + error.start)
        read += len(chunk)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return read
    return None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def _guess(head: bytes, wrong: int) -> str:
    try:
        detector = library("charset_normalizer")
    except UnreadableFile as error:
        raise UnreadableFile(f"not UTF-8 text at byte {wrong:,}; give --encoding, or: {error}") from error
    best = detector.from_bytes(head).best()
    if best is None:
        raise UnreadableFile(f"not UTF-8 text at byte {wrong:,}, and in no other encoding that can be told")
    return str(best.encoding)
