"""What a namespace holds: ``quarry get``, ``documents``, ``export``, ``schema``, ``delete`` and ``namespaces``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import click
import msgspec
from rich.text import Text

from api.cli.options import filter_option, json_option, target_options
from api.cli.output import console, counted, messages, print_json, print_line, print_table, progress_bar, reports_errors
from api.cli.reached import Where, reached
from api.cli.target import Target
from api.cli.titles import date_of, title_of

PAGE = 500


@click.command()
@click.argument("namespace")
@click.argument("document_id")
@target_options
@reports_errors
def get(namespace: str, document_id: str, where: Where) -> None:
    """Print one document of NAMESPACE as JSON."""
    with reached(where) as target:
        print_json(target.get(namespace, document_id))


@click.command()
@click.argument("namespace")
@filter_option
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many documents.")
@click.option("--all", "everything", is_flag=True, help="List every document.")
@target_options
@json_option
@reports_errors
def documents(
    namespace: str,
    filters: dict[str, Any] | None,
    limit: int,
    everything: bool,  # noqa: FBT001 - click passes flags by name
    where: Where,
    as_json: bool,  # noqa: FBT001
) -> None:
    """List the documents of NAMESPACE in the order of upload: id, date and title."""
    out = console()
    with reached(where) as target:
        schema = target.schema(namespace)
        shown, more = 0, False
        listed: list[dict[str, Any]] = []
        for document in _each(target, namespace, filters, PAGE if everything else limit + 1):
            if not everything and shown == limit:
                more = True
                break
            shown += 1
            if as_json:
                listed.append(document)
                continue
            line = Text(str(document["id"]), style="cyan")
            for value in (date_of(document, schema), title_of(document)):
                line.append(f"  {value}" if value else "", style="")
            out.print(line)
    if as_json:
        print_json(listed)
    if more:
        messages.print(Text(f"… the first {counted(limit, 'document')}; --all lists every one", style="dim"))


@click.command()
@click.argument("namespace")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write; stdout when left out.")
@filter_option
@target_options
@reports_errors
def export(namespace: str, output: Path | None, filters: dict[str, Any] | None, where: Where) -> None:
    """Write the documents of NAMESPACE as JSON Lines, each as it was uploaded, in the order of upload.

    `quarry ingest` reads what this writes. A file is written under another name first: it is whole or not there.
    """
    encode = msgspec.json.Encoder().encode
    count = 0
    with reached(where) as target, ExitStack() as closing:
        total = next((size.documents for size in target.sizes() if size.name == namespace), None)
        building = None if output is None else output.with_name(output.name + ".partial")
        file: IO[bytes] = sys.stdout.buffer if building is None else closing.enter_context(building.open("wb"))
        bar = closing.enter_context(progress_bar())
        task = bar.add_task(f"Exporting {namespace}", total=None if filters else total, note="")
        try:
            for document in _each(target, namespace, filters, PAGE):
                file.write(encode(document) + b"\n")
                count += 1
                bar.update(task, advance=1, note=counted(count, "document"))
            file.flush()
        except BaseException:
            if building is not None:
                building.unlink(missing_ok=True)
            raise
        if building is not None and output is not None:
            building.replace(output)
    messages.print(f"{counted(count, 'document')} written{'' if output is None else f' to {output}'}")


@click.command()
@click.argument("namespace")
@target_options
@json_option
@reports_errors
def schema(namespace: str, where: Where, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by name
    """Show the attributes of NAMESPACE with their types and what may be done with them.

    What --json prints may be given back to `quarry ingest --schema`.
    """
    with reached(where) as target:
        definitions = target.schema(namespace)
    if as_json:
        print_json(definitions)
        return
    rows = [
        (
            name,
            definition.type.value,
            ("by default" if definition.inferred else "yes") if definition.is_searchable else "no",
            "yes" if definition.is_filterable else "no",
        )
        for name, definition in definitions.items()
    ]
    print_table(("attribute", "type", "searched", "filterable"), rows)


@click.command()
@click.argument("namespace")
@click.argument("document_ids", nargs=-1)
@click.option("--roots", is_flag=True, help="The ids name roots; their children go too.")
@click.option("--all", "everything", is_flag=True, help="Remove the whole namespace.")
@click.option("--yes", is_flag=True, help="Do not ask before removing a whole namespace.")
@target_options
@reports_errors
def delete(
    namespace: str,
    document_ids: tuple[str, ...],
    roots: bool,  # noqa: FBT001 - click passes flags by name
    everything: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
    where: Where,
) -> None:
    """Remove documents from NAMESPACE, or with --all the namespace itself."""
    if everything == bool(document_ids):
        raise click.UsageError("Give document ids, or --all.")
    with reached(where) as target:
        if everything:
            target.schema(namespace)
            if not yes:
                click.confirm(f"Remove {namespace} and everything in it?", abort=True, err=True)
            target.drop(namespace)
            print_line(f"{namespace} removed")
            return
        removed = target.delete(namespace, document_ids, roots=roots)
    print_line(f"{counted(removed, 'document')} removed")


@click.command()
@target_options
@json_option
@reports_errors
def namespaces(where: Where, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by name
    """List the namespaces with their sizes."""
    with reached(where) as target:
        sizes = target.sizes()
    if as_json:
        print_json(sizes)
        return
    rows = [(s.name, f"{s.documents:,}", f"{s.passages:,}", f"{s.storage_bytes / 1e6:,.1f}") for s in sizes]
    print_table(("namespace", "documents", "passages", "MB"), rows, right=3)


def _each(target: Target, namespace: str, filters: dict[str, Any] | None, page: int) -> Iterator[dict[str, Any]]:
    """The documents in the order of upload, read `page` at a time (at most 1,000)."""
    cursor: str | None = None
    while True:
        found, cursor = target.page(namespace, filters, min(page, 1_000), cursor)
        yield from found
        if cursor is None:
            return
