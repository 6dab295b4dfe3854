"""Parsers of others, in a process of their own: a crash, a loop or a flood of memory there costs one file.

``python -m api.files.foreign FD`` is that process. It is sent an open file and its kind over a socket, and answers
with the file's pieces, one length-prefixed MessagePack message each.
"""

from __future__ import annotations

import os
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, TypeAlias

import msgspec

from api.files.kinds import BY_NAME, Kind, KindName
from api.files.pieces import Options, Part, Refusal, SkippedFile, Source, UnreadableFile

PATIENCE_S = 120.0
"""Seconds of silence after which a reader is given up: one page, or a whole DOCX, takes a few at most."""

MAX_MEMORY = 4 * 2**30
"""Bytes of address space of the process."""

_LENGTH = struct.Struct("<I")


class _Request(msgspec.Struct):
    name: str
    kind: KindName
    size: int
    options: Options


class _Note(msgspec.Struct, frozen=True, tag=True):
    text: str


class _End(msgspec.Struct, frozen=True, tag=True):
    """Nothing more comes; `reason` says why the file could not be used."""

    outcome: Literal["read", "skipped", "unreadable"]
    reason: str = ""


_Message: TypeAlias = Part | Refusal | _Note | _End


class ForeignReader:
    """Runs converters in one child process, which is started at the first file and again after it died."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def read(self, kind: Kind, source: Source) -> Iterator[Part | Refusal]:
        """The pieces of `source`.

        Raises:
            UnreadableFile, SkippedFile: as the converter says; or the parser crashed, hung or took too much memory.
        """
        channel = self._started()
        request = _Request(source.name, kind.name, source.size, source.options)
        is_whole = False
        try:
            raw = msgspec.msgpack.encode(request)
            socket.send_fds(channel, [_LENGTH.pack(len(raw)) + raw], [source.file.fileno()])
            while True:
                message: _Message = msgspec.msgpack.decode(_received(channel), type=_Message)
                if isinstance(message, _Note):
                    source.note(message.text)
                elif isinstance(message, _End):
                    break
                else:
                    yield message
            is_whole = True
        except TimeoutError as error:
            raise UnreadableFile(f"no end of reading it after {self._patience_s:g} seconds") from error
        except (EOFError, OSError) as error:
            raise UnreadableFile(f"the reader of {kind.name} files crashed over it") from error
        finally:
            if not is_whole:
                self.close()
        if message.outcome == "unreadable":
            raise UnreadableFile(message.reason)
        if message.outcome == "skipped":
            raise SkippedFile(message.reason)

    def close(self) -> None:
        """End the child."""
        if self._socket is not None:
            self._socket.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._child = self._socket = None

    def _started(self) -> socket.socket:
        if self._socket is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            ours.settimeout(self._patience_s)
            with theirs:
                number = theirs.fileno()
                self._child = subprocess.Popen(  # noqa: S603 - this interpreter, a module of ours
                    [sys.executable, "-m", "api.files.foreign", str(number)],
                    pass_fds=[number],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            self._socket = ours
        return self._socket


def serve(number: int) -> None:
    """Convert files until the other end of the socket `number` closes it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    with socket.socket(fileno=number) as channel, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            _answer(channel)


def _answer(channel: socket.socket) -> None:
    head, descriptors, _, _ = socket.recv_fds(channel, _LENGTH.size, 1)
    if not descriptors:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    request = msgspec.msgpack.decode(_exactly(channel, length), type=_Request)

    def send(message: _Message) -> None:
        raw = msgspec.msgpack.encode(message)
        channel.sendall(_LENGTH.pack(len(raw)) + raw)

    with os.fdopen(descriptors[0], "rb") as file:
        source = Source(
            name=request.name,
            size=request.size,
            file=file,
            options=request.options,
            note=lambda text: send(_Note(text)),
        )
        try:
            for piece in BY_NAME[request.kind].read(source):
                if isinstance(piece, (Part, Refusal)):
                    send(piece)
            send(_End("read"))
        except UnreadableFile as error:
            send(_End("unreadable", str(error)))
        except SkippedFile as error:
            send(_End("skipped", str(error)))
        except MemoryError:
            send(_End("unreadable", "reading it needs too much memory"))
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # noqa: BLE001 - parsers of others fail over hostile files in every way
            send(_End("unreadable", f"damaged ({type(error).__name__})"))


def _received(channel: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    return _exactly(channel, length)


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = channel.recv(min(size, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
