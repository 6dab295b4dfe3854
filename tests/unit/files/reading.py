"""Reads bytes as a file of a kind, as an ingestion would."""

from __future__ import annotations

import io
from pathlib import Path

from api.files.kinds import kind_of
from api.files.pieces import Options, Piece, Source


def pieces(name: str, content: bytes | str, *, notes: list[str] | None = None, **options: str) -> list[Piece]:
    """Everything that the converter of a file called `name` gives for `content`."""
    raw = content.encode() if isinstance(content, str) else content
    kind = kind_of(Path(name).name)
    assert kind is not None
    note = (notes if notes is not None else []).append
    source = Source(name=name, size=len(raw), file=io.BytesIO(raw), options=Options(**options), note=note)
    return list(kind.read(source))
