"""``quarry serve``: /v1 over HTTP."""

from __future__ import annotations

import errno
import socket
import sys

import click

from api.cli.opened import opened
from api.cli.options import data_option
from api.cli.output import messages, reports_errors
from api.places import Place
from api.settings import SETTINGS, Settings, from_environment


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
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes; on a database.")
@data_option
@reports_errors
def serve(host: str | None, port: int | None, workers: int, data: Place | None) -> None:
    """Serve /v1 until interrupted. Prints one line when it answers."""
    # Imported here: the server's libraries would slow down every other command.
    from api.server import serve as run

    settings = from_environment(data=data, host=host, port=port)
    _check_address(settings)
    if settings.api_key is None and sys.stdin.isatty() and sys.stderr.isatty():
        _offer_key(data)
    sys.exit(run(settings, workers))


def _check_address(settings: Settings) -> None:
    """Refuse an address that cannot be listened on, with what to do about it."""
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        with socket.create_server(address, family=family):
            return
    except socket.gaierror as error:
        raise click.ClickException(f"{host} is no address of this machine; choose one with --host.") from error
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: f"Port {port} of {host} is in use, perhaps by another server; choose one with --port.",
            errno.EACCES: f"No permission to listen on port {port}; choose one above 1023 with --port.",
            errno.EADDRNOTAVAIL: f"{host} is no address of this machine; choose one with --host.",
        }
        message = reasons.get(error.errno or 0, f"{host} port {port} cannot be listened on: {error.strerror}.")
        raise click.ClickException(message) from error


def _offer_key(data: Place | None) -> None:
    """Make an admin key for whoever starts a server that nobody could use."""
    with opened(data) as quarry:
        if quarry.has_keys:
            return
        if not click.confirm("There is no API key yet. Make an admin key now?", default=True, err=True):
            return
        _, raw = quarry.keys.create("admin", ["admin"], None, "cli")
    messages.print("This key is shown once; only its digest is stored:")
    messages.print(raw)
