"""Where data is, as a person names it: a folder, or the address of a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeAlias

from engine import is_database

Place: TypeAlias = Path | str
"""A folder, or ``postgresql://…``."""

_CREDENTIALS = re.compile(r"(?<=://)[^/?]*@")
_PASSWORD = re.compile(r"(?<=password=)[^&\s]*", re.IGNORECASE)


def place(raw: str) -> Place:
    """A folder, or the address of a database as it is."""
    return raw if is_database(raw) else Path(raw)


def without_secrets(address: str) -> str:
    """`address` without the name and password within it.

    >>> without_secrets("postgresql://me:secret@db/quarry?sslmode=require")
    'postgresql://***@db/quarry?sslmode=require'
    """
    return _PASSWORD.sub("***", _CREDENTIALS.sub("***@", address))
