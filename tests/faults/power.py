"""What a disk may hold after a power cut: a record of what a process wrote, and the states that it allows.

`shim.c` records every write below a folder in order. A power cut at any point of the record keeps what was synced; of
what was written since, each page of 4,096 bytes may be there or not; renames, new and removed names are kept up to
some point after their folder was last synced, in their order.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

PAGE = 4096
SOURCE = Path(__file__).with_name("shim.c")


def compiled(folder: Path) -> Path | None:
    """The shim as a library in `folder`; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = folder / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl", "-lpthread"], check=True)
    return library


class Op(NamedTuple):
    """One call of the record; see `shim.c`."""

    kind: str
    inode: int
    offset: int
    one: str
    two: str
    data: bytes


def read_record(path: Path) -> Iterator[Op]:
    content, at = path.read_bytes(), 0
    while at + 29 <= len(content):
        kind, inode, offset, one, two, data = struct.unpack_from("<cQQIII", content, at)
        at += 29
        parts = (
            content[at : at + one],
            content[at + one : at + one + two],
            content[at + one + two : at + one + two + data],
        )
        at += one + two + data
        yield Op(kind.decode(), inode, offset, os.fsdecode(parts[0]), os.fsdecode(parts[1]), parts[2])


@dataclass
class _File:
    synced: bytes = b""
    unsynced: list[Op] = field(default_factory=list)

    def after_cut(self, draw: random.Random) -> bytes:
        """What is left: the synced content, and any pages of what was written since."""
        content = bytearray(self.synced)
        for op in self.unsynced:
            _apply(content, op, draw)
        return bytes(content)

    def sync(self) -> None:
        content = bytearray(self.synced)
        for op in self.unsynced:
            _apply(content, op, None)
        self.synced, self.unsynced = bytes(content), []


def _apply(content: bytearray, op: Op, draw: random.Random | None) -> None:
    if op.kind == "T":
        if draw is None or draw.random() < 0.5:
            content[:] = content[: op.offset].ljust(op.offset, b"\0")
        return
    at, end = op.offset, op.offset + len(op.data)
    while at < end:
        stop = min(end, (at // PAGE + 1) * PAGE)
        if draw is None or draw.random() < 0.5:
            content.extend(bytes(max(0, stop - len(content))))
            content[at:stop] = op.data[at - op.offset : stop - op.offset]
        at = stop


class Disk:
    """Plays a record; `after_cut` writes a state that a power cut now may leave."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        # A number of an inode is given to another file once its own is gone, which a cut may bring back.
        self._numbers: dict[int, int] = {}
        self._files: list[_File] = []
        self._durable: dict[str, int | None] = {}
        self._pending: list[Op] = []
        self.acknowledged = b""

    def play(self, op: Op) -> None:
        match op.kind:
            case "A":
                self.acknowledged += op.data
            case "W":
                self._file(op.inode).unsynced.append(op)
            case "T":
                self._file(op.inode).unsynced.append(op)
            case "S":
                self._file(op.inode).sync()
            case "D":
                # Metadata is journaled in order: what comes before a synced change is kept with it.
                last = max((n for n, held in enumerate(self._pending) if self._is_in(held, op.one)), default=-1)
                for held in self._pending[: last + 1]:
                    _rename(self._durable, held)
                del self._pending[: last + 1]
            case "C":
                self._numbers.pop(op.inode, None)
                self._pending.append(op._replace(inode=self._number(op.inode)))
            case _:
                self._pending.append(op)

    def after_cut(self, target: Path, draw: random.Random) -> None:
        names = dict(self._durable)
        for op in self._pending[: draw.randint(0, len(self._pending))]:
            _rename(names, op)
        target.mkdir(parents=True)
        for path in sorted(names):
            held = names[path]
            place = target / Path(path).relative_to(self._root)
            if held is None:
                place.mkdir(parents=True, exist_ok=True)
            elif place.parent.is_dir():
                place.write_bytes(self._files[held].after_cut(draw))

    def _number(self, inode: int) -> int:
        """Of the file that has the inode now, in `_files`."""
        if inode not in self._numbers:
            self._numbers[inode] = len(self._files)
            self._files.append(_File())
        return self._numbers[inode]

    def _file(self, inode: int) -> _File:
        return self._files[self._number(inode)]

    @staticmethod
    def _is_in(op: Op, folder: str) -> bool:
        return Path(folder) in (Path(op.one).parent, Path(op.two).parent)


def _rename(names: dict[str, int | None], op: Op) -> None:
    match op.kind:
        case "C":
            names[op.one] = op.inode
        case "M":
            names[op.one] = None
        case "U":
            names.pop(op.one, None)
        case "R":
            for path in [path for path in names if path == op.two or path.startswith(op.two + "/")]:
                del names[path]
            for path in [path for path in names if path == op.one or path.startswith(op.one + "/")]:
                names[op.two + path[len(op.one) :]] = names.pop(path)
        case _:
            raise ValueError(op.kind)
