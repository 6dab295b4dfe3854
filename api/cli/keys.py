"""``quarry keys``: API keys of a company."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import msgspec

from api.cli.options import json_option, target_options
from api.cli.output import messages, print_json, print_line, print_table, reports_errors
from api.cli.reached import Where, reached
from engine import Scope


@click.group()
def keys() -> None:
    """Make, list and revoke API keys. While a server runs on the data, ask it: --url."""


@keys.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(["read", "search", "write", "admin"]))
@click.option("--expires-days", type=click.IntRange(min=1), help="Days until the key expires; never when left out.")
@target_options
@json_option
@reports_errors
def create(
    name: str,
    scopes: tuple[Scope, ...],
    expires_days: int | None,
    where: Where,
    as_json: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    """Make a key called NAME and print it, this once."""
    expires = None if expires_days is None else datetime.now(UTC) + timedelta(days=expires_days)
    with reached(where, create=True) as target:
        key, raw = target.create_key(name, scopes or None, expires)
    if as_json:
        print_json({"id": key.id, "name": key.name, "scopes": key.scopes, "raw_key": raw})
    else:
        messages.print("This key is shown once; only its digest is stored.")
        print_line(raw)


@keys.command("list")
@target_options
@json_option
@reports_errors
def list_keys(where: Where, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by name
    """List the keys of a company, without their secrets."""
    with reached(where) as target:
        held = target.keys()
    if as_json:
        print_json(msgspec.to_builtins(held))
        return
    rows = [
        (
            key.id,
            key.name,
            f"{key.prefix}…{key.suffix}",
            " ".join(key.scopes),
            *(f"{at:%Y-%m-%d %H:%M}" if at else "never" for at in (key.created_at, key.last_used_at, key.expires_at)),
        )
        for key in held
    ]
    print_table(("id", "name", "key", "scopes", "created", "last used", "expires"), rows)


@keys.command()
@click.argument("key_id")
@target_options
@reports_errors
def revoke(key_id: str, where: Where) -> None:
    """End a key at once."""
    with reached(where) as target:
        target.revoke_key(key_id)
    print_line(f"{key_id} revoked")
