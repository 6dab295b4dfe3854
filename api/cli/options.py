"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

F = TypeVar("F", bound=Callable[..., Any])


def data_option(command: F) -> F:
    """``--data DIR``: the data directory; QUARRY_DATA, else ./quarry-data."""
    return click.option(
        "--data", type=click.Path(path_type=Path), help="Data directory (QUARRY_DATA, else ./quarry-data)."
    )(command)


def company_option(command: F) -> F:
    """``--company NAME``: whose namespaces."""
    return click.option("--company", default="default", show_default=True, help="Whose namespaces.")(command)


def json_option(command: F) -> F:
    """``--json``: machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


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
