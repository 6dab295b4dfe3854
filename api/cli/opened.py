"""Opening the engine for one command."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import engine
from api.settings import from_environment


@contextmanager
def opened(data: Path | None, company: str = "default") -> Generator[engine.Engine]:
    """The engine over `data` (None: QUARRY_DATA) as `company` sees it, closed when the block ends."""
    settings = from_environment(data=data)
    with engine.open(settings.data, embedder=settings.embedder, settings=settings.engine_settings()) as quarry:
        yield quarry if company == quarry.company else quarry.for_company(company)
