"""``quarry config``: the settings in effect, and where each comes from."""

from __future__ import annotations

import click

from api.cli.options import data_option, json_option
from api.cli.output import print_json, print_table, reports_errors
from api.places import Place
from api.settings import in_effect


@click.command()
@data_option
@json_option
@reports_errors
def config(data: Place | None, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by name
    """Print the settings in effect and their sources. Secrets are only said to be set."""
    settings = in_effect(data=data)
    if as_json:
        print_json([{"setting": s.variable, "value": s.value, "source": s.source} for s in settings])
        return
    print_table(("setting", "value", "source"), [(s.variable, s.value, s.source) for s in settings])
