"""Ties tests to the rows of the contract and the interface: the id of a test is its row; every row must have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ROWS: set[str] = set()


def row(*names: str) -> Callable[[Any], Any]:
    """This test shows that the server keeps to the rows `names`, each written ``Section: subject``."""
    ROWS.update(names)
    name = " + ".join(names)

    def mark(test: Any) -> Any:
        tied = pytest.mark.parametrize("row", [name], ids=[name], indirect=True)(test)
        return pytest.mark.usefixtures("row")(tied)

    return mark
