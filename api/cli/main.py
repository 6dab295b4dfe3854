"""``quarry``: the command line. One file a command, or a few that belong together."""

from __future__ import annotations

import sys
from typing import Any

import click

from api.cli.chat import chat
from api.cli.completion import completion
from api.cli.config import config
from api.cli.demo import demo
from api.cli.documents import delete, documents, export, get, namespaces, schema
from api.cli.ingest import ingest
from api.cli.keys import keys
from api.cli.mcp import mcp
from api.cli.move import move
from api.cli.output import FAILED, INTERRUPTED
from api.cli.search import retrieve, search
from api.cli.serve import serve
from api.cli.upkeep import backup, check, reindex, repair, restore
from api.settings import wants_debugging


class _Commands(click.Group):
    """Ends every command in one line where it fails, whatever the fault."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("quarry: stopped", err=True)
            sys.exit(INTERRUPTED)
        except click.UsageError:
            raise
        except click.ClickException as error:
            click.echo(f"quarry: {error.format_message()}", err=True)
            sys.exit(error.exit_code)
        except (click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if wants_debugging():
                raise
            what = " ".join(f"{type(error).__name__}: {error}".split())
            click.echo(f"quarry: unexpected fault, {what} (QUARRY_LOG_LEVEL=debug shows where)", err=True)
            sys.exit(FAILED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="quarry-search", prog_name="quarry")
def main() -> None:
    """Answers to questions about your own documents, with citations that can be checked."""


for command in (
    serve,
    ingest,
    search,
    chat,
    retrieve,
    namespaces,
    schema,
    documents,
    get,
    delete,
    export,
    keys,
    check,
    reindex,
    backup,
    restore,
    repair,
    move,
    config,
    completion,
    demo,
    mcp,
):
    main.add_command(command)
