"""``quarry``: the command line. One file a command, or a few that belong together."""

from __future__ import annotations

import click

from api.cli.demo import demo
from api.cli.documents import delete, get, namespaces
from api.cli.ingest import ingest
from api.cli.keys import keys
from api.cli.search import search
from api.cli.serve import serve
from api.cli.upkeep import backup, check, reindex


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="quarry-search", prog_name="quarry")
def main() -> None:
    """Answers to questions about your own documents, with citations that can be checked."""


for command in (serve, ingest, search, namespaces, get, delete, keys, check, reindex, backup, demo):
    main.add_command(command)
