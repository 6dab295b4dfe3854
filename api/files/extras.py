"""Libraries of the extra ``files``, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any, cast

from api.files.pieces import UnreadableFile


def library(name: str) -> Any:
    """The module `name`, untyped. Raises `UnreadableFile` with the remedy when it is not installed."""
    try:
        return cast("Any", importlib.import_module(name))
    except ImportError as error:
        raise UnreadableFile("needs the extra 'files': pip install 'quarry-search[files]'") from error
