"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
import msgspec

from api.cli.reached import Where
from api.places import Place, place
from engine import DEFAULT_COMPANY

F = TypeVar("F", bound=Callable[..., Any])


class PlaceType(click.ParamType[Place]):
    """A folder, or the address of a database."""

    name = "DIR"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Place:  # noqa: ARG002
        return value if isinstance(value, Path) else place(str(value))


PLACE = PlaceType()


def data_option(command: F) -> F:
    """``--data DIR``: the data directory or database; QUARRY_DATA, else ./quarry-data."""
    return click.option(
        "--data", type=PLACE, help="Data directory, or postgresql://… (QUARRY_DATA, else ./quarry-data)."
    )(command)


def company_option(command: F) -> F:
    """``--company NAME``: whose namespaces."""
    return click.option("--company", default=DEFAULT_COMPANY, show_default=True, help="Whose namespaces.")(command)


def target_options(command: F) -> F:
    """The options that name a data directory or a server; the command takes them as one parameter `where`."""

    @wraps(command)
    def run(
        *args: Any, data: Place | None, company: str, url: str | None, server_key: str | None, **options: Any
    ) -> object:
        return command(*args, where=Where(data, company, url, server_key), **options)

    for option in (
        click.option("--key", "server_key", help="API key for --url; better in QUARRY_API_KEY."),
        click.option("--url", help="Ask a server instead of a data directory, such as http://localhost:8000."),
        company_option,
        data_option,
    ):
        run = option(run)
    return cast("F", run)


def json_option(command: F) -> F:
    """``--json``: machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def filter_option(command: F) -> F:
    """``--filter``: only documents that match."""
    return click.option("--filter", "filters", type=JSON_OBJECT, help="Attribute filter as JSON, or @FILE.")(command)


class JsonObject(click.ParamType[dict[str, Any]]):
    """A JSON object, or ``@FILE`` that holds one."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value  # type: ignore[return-value]
        text = str(value)
        try:
            raw = Path(text[1:]).read_bytes() if text.startswith("@") else text.encode()
            return msgspec.json.decode(raw, type=dict[str, Any])
        except OSError as error:
            self.fail(f"{text[1:]}: {error.strerror}", param, ctx)
        except (msgspec.DecodeError, UnicodeError) as error:
            self.fail(f"not a JSON object: {error}", param, ctx)


JSON_OBJECT = JsonObject()
