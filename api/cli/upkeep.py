"""``quarry check``, ``reindex``, ``backup``, ``restore`` and ``repair``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import engine
from api.cli.opened import existing
from api.cli.options import company_option, data_option
from api.cli.output import FAILED, INTERRUPTED, counted, messages, print_line, progress_bar, reports_errors
from api.places import Place
from api.settings import from_environment


@click.command()
@data_option
@company_option
@reports_errors
def check(data: Place | None, company: str) -> None:
    """Read every row of every namespace and compare the indexes with it; exit status 1 when something is wrong."""
    with existing(data, company) as quarry:
        problems = quarry.check()
        count = len(quarry.namespaces())
        notices = quarry.notices
    for notice in notices:
        messages.print(notice)
    for problem in problems:
        print_line(problem)
    if problems:
        sys.exit(FAILED)
    print_line(f"{counted(count, 'namespace')} {'is' if count == 1 else 'are'} sound")


@click.command()
@click.argument("namespace")
@data_option
@company_option
@reports_errors
def reindex(namespace: str, data: Place | None, company: str) -> None:
    """Cut and embed every document of NAMESPACE anew."""
    done = 0
    with existing(data, company) as quarry, progress_bar() as bar:
        total = next((size.documents for size in quarry.stats() if size.name == namespace), None)
        task = bar.add_task(f"Indexing {namespace} anew", total=total, note="")

        def advance(count: int) -> None:
            nonlocal done
            done += count
            bar.update(task, completed=done, note=counted(done, "document"))

        try:
            count = quarry.reindex(namespace, advance)
        except KeyboardInterrupt:
            messages.print(f"stopped after {counted(done, 'document')}; {namespace} is as it was")
            sys.exit(INTERRUPTED)
    print_line(f"{counted(count, 'document')} indexed anew")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@data_option
@reports_errors
def backup(folder: Path, data: Place | None) -> None:
    """Write a consistent copy of the data directory into the new FOLDER."""
    with existing(data) as quarry:
        report = quarry.backup(folder)
    for problem in report.problems:
        messages.print(f"copied as it is, for it cannot be opened: {problem}")
    print_line(f"backup written to {folder}: {_contents(report)}")


@click.command()
@click.argument("backup", type=click.Path(path_type=Path))
@data_option
@reports_errors
def restore(backup: Path, data: Place | None) -> None:
    """Make a data directory out of BACKUP, a folder that a backup wrote; it stays as it is.

    The data directory must not exist yet. Every database of the backup is opened and counted; indexes are built when
    they are first used.
    """
    target = from_environment(data=data).data
    report = engine.restore(backup, target)
    print_line(f"restored to {report.path}: {_contents(report)}")


@click.command()
@data_option
@reports_errors
def repair(data: Place | None) -> None:
    """Make a damaged data directory usable from what can be read; each thing that is lost is named.

    The files as they were are copied into the folder ``damaged`` of the data directory first. Stop the server before;
    restore a backup instead where there is one. Exit status 1 when something cannot be repaired.
    """
    target = from_environment(data=data).data
    if isinstance(target, Path) and not target.exists():
        raise click.ClickException(f"There is no data directory at {target}.")
    report = engine.repair(target)
    for line in report.lines:
        print_line(line)
    if report.failed:
        messages.print(
            f"{counted(len(report.failed), 'namespace')} could not be repaired: restore a backup, or drop it."
        )
        sys.exit(FAILED)
    if not report.lines:
        print_line("nothing is damaged")


def _contents(report: engine.BackupReport) -> str:
    return f"{counted(report.namespaces, 'namespace')}, {counted(report.documents, 'document')}"
