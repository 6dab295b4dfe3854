"""Where data is, as a person names it: a folder, or the address of a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeAlias

from engine import is_database

Place: TypeAlias = Path | str
"""A folder, or ``postgresql://…``."""

_CREDENTIALS = re.compile(r"(?<=://)[^/?]*@")
_PASSWORD = re.compile(r"(password\s*=\s*)('(?:\\.|[^'\\])*'?|[^&\s]*)", re.IGNORECASE)
_USER = re.compile(r"((?:^|\s)user\s*=\s*)('(?:\\.|[^'\\])*'?|\S*)")


def place(raw: str) -> Place:
    """A folder, or the address of a database as it is."""
    return raw if is_database(raw) else Path(raw)


def without_secrets(address: str) -> str:
    r"""`address` without the name and password within it.

    >>> without_secrets("postgresql://me:secret@db/quarry?sslmode=require")
    'postgresql://***@db/quarry?sslmode=require'
    >>> without_secrets(r"host=db user=me password = 'my \'secret' dbname=quarry")
    'host=db user=*** password = *** dbname=quarry'
    """
    return _USER.sub(r"\1***", _PASSWORD.sub(r"\1***", _CREDENTIALS.sub("***@", address)))
