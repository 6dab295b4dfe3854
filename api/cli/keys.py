"""``quarry keys``: API keys of a company."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from api.cli.opened import existing, opened
from api.cli.options import company_option, data_option, json_option
from api.cli.output import messages, print_json, print_line, print_table, reports_errors


@click.group()
def keys() -> None:
    """Make, list and revoke API keys. The server must not be running on the same data."""


@keys.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(["read", "search", "write", "admin"]))
@click.option("--expires-days", type=click.IntRange(min=1), help="Days until the key expires; never when left out.")
@data_option
@company_option
@json_option
@reports_errors
def create(
    name: str,
    scopes: tuple[str, ...],
    expires_days: int | None,
    data: Path | None,
    company: str,
    as_json: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    """Make a key called NAME and print it, this once."""
    expires = None if expires_days is None else datetime.now(UTC) + timedelta(days=expires_days)
    with opened(data, company) as quarry:
        key, raw = quarry.keys.create(name, scopes or None, expires, "cli")
    if as_json:
        print_json({"id": key.id, "name": key.name, "scopes": key.scopes, "raw_key": raw})
    else:
        messages.print("This key is shown once; only its digest is stored.")
        print_line(raw)


@keys.command("list")
@data_option
@company_option
@json_option
@reports_errors
def list_keys(data: Path | None, company: str, as_json: bool) -> None:  # noqa: FBT001
    """List the keys of a company, without their secrets."""
    with existing(data, company) as quarry:
        held = quarry.keys.list()
    if as_json:
        print_json(held)
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
@data_option
@company_option
@reports_errors
def revoke(key_id: str, data: Path | None, company: str) -> None:
    """End a key at once."""
    with existing(data, company) as quarry:
        quarry.keys.revoke(key_id)
    print_line(f"{key_id} revoked")
