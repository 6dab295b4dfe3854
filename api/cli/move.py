"""``quarry move``: everything from one data directory or database into another."""

from __future__ import annotations

import sys

import click
from rich.progress import TaskID

import engine
from api.cli.options import PLACE
from api.cli.output import FAILED, INTERRUPTED, counted, messages, print_line, progress_bar, reports_errors
from api.places import Place, without_secrets
from api.settings import from_environment


@click.command()
@click.argument("source", type=PLACE)
@click.argument("target", type=PLACE)
@reports_errors
def move(source: Place, target: Place) -> None:
    """Bring all companies, namespaces, documents and keys of SOURCE into TARGET; either is a folder or postgresql://….

    SOURCE stays as it is; stop the servers that write to it before. Search sessions stay behind. What arrived is
    compared: counts, checksums and the answers to 100 queries; exit status 1 when something differs. Broken off, the
    same command goes on.
    """
    settings = from_environment()
    tasks: dict[str, TaskID] = {}
    with progress_bar() as bar:

        def advance(namespace: str, done: int, total: int) -> None:
            if namespace not in tasks:
                tasks[namespace] = bar.add_task(f"Moving {namespace}", total=total, note="")
            bar.update(tasks[namespace], completed=done, note=counted(done, "document"))

        try:
            moved = engine.move(
                source, target, embedder=settings.embedder, settings=settings.engine_settings(), progress=advance
            )
        except KeyboardInterrupt:
            messages.print("stopped; the same command goes on from here", markup=False)
            sys.exit(INTERRUPTED)
        except engine.DataDirectoryNotFound as error:
            raise click.ClickException(f"There is no data directory at {without_secrets(str(source))}.") from error
    for problem in moved.problems:
        print_line(problem)
    print_line(
        f"{counted(moved.namespaces, 'namespace')} with {counted(moved.documents, 'document')} "
        f"({moved.written:,} written now) and {counted(moved.passages, 'passage')} moved; {counted(moved.keys, 'key')}"
    )
    if moved.queries:
        print_line(f"{moved.agreement:.1%} of the first ten passages agree over {moved.queries} searches")
    print_line("search sessions are left behind")
    if moved.problems:
        sys.exit(FAILED)
