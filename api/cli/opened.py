"""Opening the engine for one command."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import click

import engine
from api.places import Place, without_secrets
from api.settings import Settings, from_environment


@contextmanager
def opened(data: Place | None, company: str = "default", *, create: bool = True) -> Generator[engine.Engine]:
    """The engine over `data` (None: QUARRY_DATA) as `company` sees it, closed when the block ends.

    Args:
        create: whether a directory without data may become a data directory.
    """
    with _open(from_environment(data=data), create=create) as quarry:
        yield quarry if company == quarry.company else quarry.for_company(company)


def existing(data: Place | None, company: str = "default") -> AbstractContextManager[engine.Engine]:
    """As `opened`, for a command that only makes sense where there is data: a mistyped directory is not made."""
    return opened(data, company, create=False)


def _open(settings: Settings, *, create: bool) -> engine.Engine:
    path = settings.data if isinstance(settings.data, Path) else without_secrets(settings.data)
    try:
        chosen = settings.engine_settings()
        return engine.open(settings.data, embedder=settings.embedder, settings=chosen, create=create)
    except engine.DataDirectoryNotFound as error:
        raise click.ClickException(
            f"There is no data directory at {path}. Name it with --data or QUARRY_DATA; `quarry ingest` makes one."
        ) from error
    except engine.StorageError as error:
        if isinstance(error.__cause__, PermissionError):
            raise click.ClickException(
                f"No permission to use {path}: run as its owner, or name another directory with --data."
            ) from error
        if isinstance(error.__cause__, (FileExistsError, NotADirectoryError)):
            raise click.ClickException(f"{path} is no folder; --data names a folder.") from error
        raise
