"""``quarry serve``: /v1 over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from api.cli.options import data_option
from api.cli.output import reports_errors
from api.settings import SETTINGS, from_environment


def _listing() -> str:
    """The settings of the environment for ``--help``, one a line."""
    width = max(len(setting.variable) for setting in SETTINGS)
    return "\n".join(
        f"{setting.variable:<{width}}  {setting.meaning}" + (f" [{setting.default()}]" if setting.default() else "")
        for setting in SETTINGS
    )


@click.command(epilog="Settings of the environment:\n\n\b\n" + _listing())
@click.option("--host", help="Address to listen on (QUARRY_HOST, else 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port; 0 takes a free one (QUARRY_PORT, else 8000).")
@data_option
@reports_errors
def serve(host: str | None, port: int | None, data: Path | None) -> None:
    """Serve /v1 until interrupted. Prints one line when it answers."""
    # Imported here: the server's libraries would slow down every other command.
    from api.server import serve as run

    sys.exit(run(from_environment(data=data, host=host, port=port)))
