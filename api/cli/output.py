"""What commands print: results on stdout, everything else on stderr, and one line for an error.

Lines are as long as what they say: a terminal wraps them, and what is piped is never wrapped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from api.cli.target import ServerError
from api.files.ledger import LedgerError
from api.settings import SettingsError
from engine import QuarryError

P = ParamSpec("P")
R = TypeVar("R")

FAILED = 1
USAGE = 2
INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as shells have it."""


def console(*, stderr: bool = False) -> Console:
    """Prints for people: words are wrapped at a terminal's width, and nothing is wrapped elsewhere."""
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    made.soft_wrap = not made.is_terminal
    return made


messages = console(stderr=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")


def print_line(text: str) -> None:
    """One line on stdout."""
    sys.stdout.write(text + "\n")


def counted(count: int, noun: str) -> str:
    """`count` of what `noun` names, in the right number.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: int = 0) -> None:
    """Rows under their headings, every value whole. Where the terminal is too narrow, one value a line.

    Args:
        right: how many of the last columns are numbers.
    """
    out = console()
    widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
    if out.is_terminal and sum(widths) + 2 * (len(widths) - 1) > out.width:
        _print_records(out, headings, rows)
        return
    for row in [headings, *rows]:
        cells = [
            value.rjust(width) if column >= len(headings) - right else value.ljust(width)
            for column, (value, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.print(Text("  ".join(cells).rstrip(), style="bold" if row is headings else ""))


def _print_records(out: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    width = max(map(len, headings))
    for number, row in enumerate(rows):
        if number:
            out.print()
        for heading, value in zip(headings, row, strict=True):
            out.print(Text.assemble((heading.ljust(width) + "  ", "bold"), value))


def progress_bar() -> Progress:
    """A bar on stderr that leaves when it is done; silent where stderr is not a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=messages,
        transient=True,
        disable=not messages.is_terminal,
    )


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what the engine refuses into one line on stderr and exit status 1."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (QuarryError, ServerError, LedgerError, SettingsError) as error:
            click.echo(" ".join([f"quarry: {error}{_where(error)}", *getattr(error, "__notes__", ())]), err=True)
            sys.exit(FAILED)
        except BrokenPipeError:
            # The reader of a pipe went away, as `head` does.
            sys.stderr.close()
            sys.exit(FAILED)

    return run


def _where(error: Exception) -> str:
    """The code of an error and what in the input it speaks of, as the end of its line."""
    if not isinstance(error, QuarryError):
        return ""
    return f" ({error.code} at {error.path})" if error.path else f" ({error.code})"
