"""``quarry get``, ``quarry delete`` and ``quarry namespaces``."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.opened import existing
from api.cli.options import company_option, data_option, json_option
from api.cli.output import counted, print_json, print_line, print_table, reports_errors


@click.command()
@click.argument("namespace")
@click.argument("document_id")
@data_option
@company_option
@reports_errors
def get(namespace: str, document_id: str, data: Path | None, company: str) -> None:
    """Print one document of NAMESPACE as JSON."""
    with existing(data, company) as quarry:
        print_json(quarry.get(namespace, document_id))


@click.command()
@click.argument("namespace")
@click.argument("document_ids", nargs=-1)
@click.option("--roots", is_flag=True, help="The ids name roots; their children go too.")
@click.option("--all", "everything", is_flag=True, help="Remove the whole namespace.")
@click.option("--yes", is_flag=True, help="Do not ask before removing a whole namespace.")
@data_option
@company_option
@reports_errors
def delete(
    namespace: str,
    document_ids: tuple[str, ...],
    roots: bool,  # noqa: FBT001 - click passes flags by name
    everything: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
    data: Path | None,
    company: str,
) -> None:
    """Remove documents from NAMESPACE, or with --all the namespace itself."""
    if everything == bool(document_ids):
        raise click.UsageError("Give document ids, or --all.")
    with existing(data, company) as quarry:
        if everything:
            quarry.namespace(namespace)
            if not yes:
                click.confirm(f"Remove {namespace} and everything in it?", abort=True, err=True)
            quarry.drop(namespace)
            print_line(f"{namespace} removed")
            return
        ids = list(document_ids)
        removed = (
            quarry.delete(namespace, root_document_ids=ids) if roots else quarry.delete(namespace, document_ids=ids)
        )
    print_line(f"{counted(removed, 'document')} removed")


@click.command()
@data_option
@company_option
@json_option
@reports_errors
def namespaces(data: Path | None, company: str, as_json: bool) -> None:  # noqa: FBT001
    """List the namespaces with their sizes."""
    with existing(data, company) as quarry:
        stats = quarry.stats()
    if as_json:
        print_json(stats)
        return
    rows = [(s.name, f"{s.documents:,}", f"{s.passages:,}", f"{s.storage_bytes / 1e6:,.1f}") for s in stats]
    print_table(("namespace", "documents", "passages", "MB"), rows, right=3)
