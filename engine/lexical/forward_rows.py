"""A passage as bytes of its own, so that one is read without its neighbours: a database unpacks hundreds for each."""

from __future__ import annotations

import zlib

import msgspec

from engine.errors import CorruptData
from engine.model.document import Passage

_LEVEL = 1
"""Higher ones take longer and save one byte in a hundred."""
_WINDOW = 12
_MEMORY = 5
"""Tables for texts of some kilobytes. The library's own are filled with zeros for each passage, which takes four times
as long as the passage itself."""


class _Row(msgspec.Struct, array_like=True, frozen=True):
    document_id: str
    attribute: str
    start: int
    end: int
    text: str
    header: str


_decoder = msgspec.msgpack.Decoder(_Row)


def pack(passage: Passage) -> bytes:
    """All of `passage` but its label; what `unpack` reads."""
    row = _Row(passage.document_id, passage.attribute, passage.start, passage.end, passage.text, passage.header)
    squeezed = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    return squeezed.compress(msgspec.msgpack.encode(row)) + squeezed.flush()


def unpack(label: int, packed: bytes) -> Passage:
    """The passage that was packed, with its label.

    Raises:
        CorruptData: the bytes are others than `pack` gave; they have a checksum.
    """
    try:
        row = _decoder.decode(zlib.decompress(packed))
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CorruptData("A packed passage is damaged.") from error
    return Passage(
        label=label,
        document_id=row.document_id,
        attribute=row.attribute,
        start=row.start,
        end=row.end,
        text=row.text,
        header=row.header,
    )
