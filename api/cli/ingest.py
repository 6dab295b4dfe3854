"""``quarry ingest``: files and folders into a namespace."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from api.cli.options import JSON_OBJECT, json_option, target_options
from api.cli.output import FAILED, INTERRUPTED, messages, print_json, print_line, reports_errors
from api.cli.reached import Where, reached
from api.cli.target import ServerError
from api.files.ingestion import Ingestion, Plan, find
from api.files.kinds import known_endings
from api.files.pieces import Options
from api.files.report import Report
from api.files.store import Store
from api.files.walk import Found, Left, Selection
from api.places import without_secrets
from api.settings import from_environment
from engine import QuarryError

WATCH_SECONDS = 2.0
"""Between two looks at the files under ``--watch``."""


class Renaming(click.ParamType[tuple[str, str]]):
    """``OLD=NEW``; an empty NEW leaves the attribute out."""

    name = "OLD=NEW"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value  # type: ignore[return-value]
        old, equals, new = str(value).partition("=")
        if not equals or not old:
            self.fail(f"{value!r} is not of the form OLD=NEW", param, ctx)
        return old, new


@click.command()
@click.argument("namespace")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--schema", type=JSON_OBJECT, help="Attribute definitions as JSON, or @FILE.")
@click.option("--map", "renamings", multiple=True, type=Renaming(), help="Call attribute OLD of the files NEW.")
@click.option("--include", multiple=True, metavar="GLOB", help="Read only such files of the folders, as in .gitignore.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave such files of the folders out.")
@click.option("--prefix", default="", help="Put in front of ids that are made of paths.")
@click.option("--prune", is_flag=True, help="Remove documents whose file is gone from the folders.")
@click.option("--watch", is_flag=True, help="Go on, and ingest what changes, until Ctrl-C.")
@click.option("--force", is_flag=True, help="Read unchanged files too.")
@click.option("--encoding", help="Encoding of text files; detected by default.")
@click.option("--separator", help="Separator of .csv files; detected by default.")
@click.option(
    "--report", "report_file", type=click.Path(path_type=Path, dir_okay=False), help="Write a report as JSON."
)
@target_options
@json_option
@reports_errors
def ingest(
    namespace: str,
    paths: tuple[Path, ...],
    schema: dict[str, Any] | None,
    renamings: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    prefix: str,
    prune: bool,  # noqa: FBT001 - click passes flags by name
    watch: bool,  # noqa: FBT001
    force: bool,  # noqa: FBT001
    encoding: str | None,
    separator: str | None,
    report_file: Path | None,
    where: Where,
    as_json: bool,  # noqa: FBT001
) -> None:
    r"""Store the documents of PATHS in NAMESPACE, replacing those with the same id.

    Reads JSON, JSON Lines, CSV and Parquet as documents; Markdown, text, HTML, mail, PDF, Word, PowerPoint, Excel, EPUB
    and source code as text; and folders of them, without what .gitignore and .quarryignore name. Ids are paths below
    the folder. Files that did not change since the last time are passed over.

    What cannot be read is refused and listed at the end, and the rest goes on; the exit status is then 1.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise click.ClickException(f"{missing[0]}: no such file or folder")
    if separator is not None:
        separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
        if len(separator) != 1:
            raise click.BadParameter("one character, or tab", param_hint="--separator")
    plan = Plan(
        paths=paths,
        selection=Selection(include, exclude),
        options=Options(encoding=encoding, separator=separator),
        prefix=prefix,
        names=dict(renamings),
        prune=prune,
        force=force,
    )

    def run(found: list[Found | Left]) -> Report:
        return _run(plan, found, namespace, schema, where)

    found = find(plan)
    report = run(found)
    _print(report, namespace, as_json=as_json, report_file=report_file)
    if watch:
        _watch(plan, found, run, namespace)
    if report.refused_count:
        sys.exit(FAILED)


def _run(
    plan: Plan,
    found: list[Found | Left],
    namespace: str,
    schema: Mapping[str, Any] | None,
    where: Where,
) -> Report:
    """One ingestion with its progress on stderr. On Ctrl-C it says what was stored, and ends the program."""
    report = Report()
    if not any(isinstance(entry, Found) for entry in found) and not any(
        e.is_fault for e in found if isinstance(e, Left)
    ):
        report.refuse(", ".join(map(str, plan.paths)), f"nothing to read; known kinds of file are {known_endings()}")
    with reached(where, create=True) as library, _progress() as bar:
        total = sum(entry.size for entry in found if isinstance(entry, Found))
        task = bar.add_task(f"Indexing into {namespace}", total=total, note="")
        store = Store(library, namespace, schema, _memory(where), report)

        def advance(size: int) -> None:
            bar.update(task, advance=size, note=f"{report.documents:,} documents")

        try:
            Ingestion(plan, store, report, advance).run(found)
        except KeyboardInterrupt:
            messages.print(f"stopped: {report.summary(namespace)}; the same command goes on from here")
            sys.exit(INTERRUPTED)
        except (QuarryError, ServerError):
            messages.print(f"stopped: {report.summary(namespace)}; the same command goes on from here")
            raise
        finally:
            store.close()
    return report


def _memory(where: Where) -> Path:
    """The folder of the ledger: in the data directory, else with what programs keep of this user's."""
    data = from_environment(data=where.data).data
    if where.url is None and isinstance(data, Path):
        return data
    folder = Path.home() / ".local" / "state" / "quarry"
    if where.url is None:
        # Databases number their namespaces alike: each has a folder.
        folder /= hashlib.sha256(without_secrets(str(data)).encode()).hexdigest()[:16]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _print(report: Report, namespace: str, *, as_json: bool, report_file: Path | None) -> None:
    for line in report.lines():
        messages.print(line, markup=False, soft_wrap=True)
    if report_file:
        report_file.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    if as_json:
        print_json({"namespace": namespace, "documents_upserted": report.documents} | msgspec.to_builtins(report))
    else:
        print_line(report.summary(namespace))


def _watch(plan: Plan, found: list[Found | Left], run: Callable[[list[Found | Left]], Report], namespace: str) -> None:
    """Look at the files again and again. The data directory is free in between, so that others may search."""
    before = _signature(found)
    messages.print("watching; Ctrl-C ends it", markup=False)
    try:
        while True:
            time.sleep(WATCH_SECONDS)
            now = find(plan)
            signature = _signature(now)
            if signature != before:
                before = signature
                _print(run(now), namespace, as_json=False, report_file=None)
    except KeyboardInterrupt:
        messages.print("stopped")


def _signature(found: list[Found | Left]) -> dict[str, tuple[int, int]]:
    """What tells a changed file from an unchanged one without reading it: size and time of the last write."""
    return {entry.path: (entry.size, entry.modified_ns) for entry in found if isinstance(entry, Found)}


def _progress() -> Progress:
    """A bar with rate and remaining time on stderr that leaves when it is done; silent where that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=messages,
        transient=True,
        disable=not messages.is_terminal,
    )
