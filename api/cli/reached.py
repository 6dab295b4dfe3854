"""The data directory or the server that the options of a command name."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import click

from api.cli.local import OpenedTarget
from api.cli.opened import opened
from api.cli.target import ServerError, Target
from api.places import Place
from api.settings import from_environment
from api.spelling import nearest
from engine import DEFAULT_COMPANY, NamespaceNotFound, QuarryError


class Where(NamedTuple):
    """What the options of a command name.

    Attributes:
        url: of a server; None for the data directory.
        key: for the server; None takes QUARRY_API_KEY.
    """

    data: Place | None
    company: str
    url: str | None
    key: str | None


@contextmanager
def reached(where: Where, *, create: bool = False) -> Generator[Target]:
    """The target that `where` names.

    Args:
        create: whether a data directory is made where there is none.
    """
    if where.url is None:
        if where.key is not None:
            raise click.UsageError("--key goes with --url.")
        with opened(where.data, where.company, create=create) as quarry, _spelling(OpenedTarget(quarry)) as target:
            yield target
        return
    if where.data is not None or where.company != DEFAULT_COMPANY:
        raise click.UsageError("--url names a server; --data and --company are for a data directory.")
    # Imported here: what speaks HTTP and TLS would slow down every other command.
    from api.cli.remote import ServerTarget

    key = where.key or from_environment().api_key
    if key is None:
        raise click.UsageError("A server needs a key: --key, or QUARRY_API_KEY.")
    with _spelling(ServerTarget(where.url, key)) as target:
        yield target


@contextmanager
def _spelling(target: Target) -> Generator[Target]:
    """Add the name that was meant to the error about a namespace that is not there."""
    try:
        yield target
    except (NamespaceNotFound, ServerError) as error:
        if error.code == NamespaceNotFound.code:
            # Who may not list namespaces keeps the error alone.
            with suppress(QuarryError, ServerError):
                names = [size.name for size in target.sizes()]
                meant = nearest(click.get_current_context().params.get("namespace", ""), names)
                if meant is not None:
                    error.add_note(f"Did you mean {meant!r}?")
        raise
