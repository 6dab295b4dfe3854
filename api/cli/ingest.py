"""``quarry ingest``: files and folders into a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from api.cli.files import Found, UnreadableFile, discover, read_documents
from api.cli.opened import opened
from api.cli.options import JSON_OBJECT, company_option, data_option, json_option
from api.cli.output import print_json, print_line, progress_bar, reports_errors
from engine import InvalidDocument

BATCH = 2_000
"""Documents a transaction: small enough that the bar moves, large enough that commits cost nothing."""


@click.command()
@click.argument("namespace")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--schema", type=JSON_OBJECT, help="Attribute definitions as JSON, or @FILE.")
@data_option
@company_option
@json_option
@reports_errors
def ingest(
    namespace: str,
    paths: tuple[Path, ...],
    schema: dict[str, Any] | None,
    data: Path | None,
    company: str,
    as_json: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    """Store the documents of PATHS in NAMESPACE, replacing those with the same id.

    Reads .jsonl, .json, .csv, .tsv, .md and .txt files, and folders of them. A document without an id gets one made of
    its file's name. Whole batches are written: after an error, the batches before it stay.
    """
    files = discover(paths)
    written = 0
    with opened(data, company) as quarry, progress_bar() as bar:
        task = bar.add_task(f"Indexing into {namespace}", total=sum(f.stat().st_size for f in files), note="")
        found = read_documents(files, advance=lambda size: bar.advance(task, size))
        for batch in _batches(found):
            try:
                written += quarry.upsert(namespace, [entry.document for entry in batch], schema)
            except InvalidDocument as error:
                raise UnreadableFile(f"{_origin(error, batch)}: {error.message}") from error
            bar.update(task, note=f"{written:,} documents")
    if as_json:
        print_json({"namespace": namespace, "documents_upserted": written})
    else:
        print_line(f"{written:,} documents in {namespace}")


def _batches(found: Iterator[Found]) -> Iterator[list[Found]]:
    while batch := list(islice(found, BATCH)):
        yield batch


def _origin(error: InvalidDocument, batch: list[Found]) -> str:
    """File and line of the document that ``documents[17].id`` names."""
    number = error.path.removeprefix("documents[").partition("]")[0]
    return str(batch[int(number)].origin) if number.isdigit() and int(number) < len(batch) else "a document"
