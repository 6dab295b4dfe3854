"""Backups on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec


class BackupObject(msgspec.Struct, frozen=True):
    """A copy of all companies' data that is whole and on disk."""

    name: Annotated[str, msgspec.Meta(description="Its folder under `QUARRY_BACKUPS`.")]
    bytes: int
    namespaces: Annotated[int, msgspec.Meta(description="Namespaces in it.")]
