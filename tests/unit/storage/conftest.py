"""A database, a catalog and a clock for the tests of storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.storage.catalog_file import CatalogFile
from engine.storage.connection import Database, connect


class TurnableClock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> TurnableClock:
    return TurnableClock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = connect(tmp_path / "test.duckdb", threads=2, memory_limit="256MB")
    yield opened
    opened.close()


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Callable[[], CatalogFile]]:
    """Opens the catalog; each call closes the one before."""
    opened: list[CatalogFile] = []

    def call() -> CatalogFile:
        for file in opened:
            file.close()
        opened.append(CatalogFile.open(tmp_path))
        return opened[-1]

    yield call
    for file in opened:
        file.close()


@pytest.fixture
def file(reopen: Callable[[], CatalogFile]) -> CatalogFile:
    return reopen()
