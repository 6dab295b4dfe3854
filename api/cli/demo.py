"""``quarry demo``: the documentation of this Python, indexed and asked."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.text import Text

import engine
from api.cli.answers import show, status
from api.cli.local import OpenedTarget
from api.cli.options import PLACE
from api.cli.output import console, messages, progress_bar, reports_errors
from api.cli.stdlib_docs import SCHEMA, documents, module_names
from api.places import Place, without_secrets
from api.settings import from_environment

NAMESPACE = "python-docs"
SHOWN = 4
QUESTIONS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    (
        "How do I create a temporary directory that is removed afterwards?",
        "A test writes files and must not leave them behind.",
        None,
    ),
    (
        "How do I run a function in a separate thread from asyncio?",
        "A server must call a library that blocks for seconds, without stopping the event loop.",
        None,
    ),
    (
        "How is a date made from a timestamp?",
        "Times come as seconds since 1970.",
        {"module": "datetime", "kind": {"$in": ["class", "method"]}},
    ),
)


@click.command()
@click.option("--data", type=PLACE, help="Keep the index in this folder instead of a temporary one.")
@reports_errors
def demo(data: Place | None) -> None:
    """Index the documentation of this Python's standard library and answer questions about it."""
    folder = data or Path(tempfile.mkdtemp(prefix="quarry-demo-"))
    out = console()
    settings = from_environment(data=folder)
    try:
        with engine.open(folder, embedder=settings.embedder, settings=settings.engine_settings()) as quarry:
            begin = time.monotonic()
            count = index(quarry)
            seconds = time.monotonic() - begin
            out.print(Text(f"Indexed {count:,} documents in {seconds:.1f} s.", style="bold"))
            target = OpenedTarget(quarry)
            for objective, context, filters in QUESTIONS:
                out.print()
                out.rule(Text(objective, style="bold"), align="left")
                if filters:
                    out.print(Text(f"filter: {filters}", style="dim"))
                request = engine.SearchRequest(
                    objective=objective, context=context, filters=filters, include_attributes=True
                )
                response = target.search(NAMESPACE, request, status)
                show(response, target.schema(NAMESPACE), out, most=SHOWN)
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)
    out.print()
    out.print(Text("Ask your own:", style="bold"))
    program = Path(sys.argv[0])
    keep = without_secrets(str(data or "quarry-data"))
    if data is None:
        out.print(Text(f"  {program} demo --data {keep}    # keeps the index"))
    out.print(Text(f"  {program} search {NAMESPACE} 'How do I parse command line options?' --data {keep}"))
    out.print(Text(f"  {program} ingest my-notes ~/notes && {program} search my-notes 'What did we decide?'"))


def index(quarry: engine.Engine) -> int:
    """Documents indexed, with a progress bar over the modules."""
    names = module_names()
    count = 0
    held: list[dict[str, Any]] = []
    with progress_bar() as bar:
        task = bar.add_task("Indexing the standard library's documentation", total=len(names), note="")
        for name in names:
            held += documents(name)
            if len(held) >= 500 or name == names[-1]:
                count += quarry.upsert(NAMESPACE, held, SCHEMA)
                held = []
            bar.update(task, advance=1, note=f"{count:,} documents")
    if not count:
        messages.print("No documentation found; this Python was built without docstrings.")
    return count
