"""What commands print: results on stdout, everything else on stderr, and one line for an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from api.cli.files import UnreadableFile
from api.settings import SettingsError
from engine import QuarryError

P = ParamSpec("P")
R = TypeVar("R")

FAILED = 1
USAGE = 2

messages = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")


def print_line(text: str) -> None:
    """One line on stdout."""
    sys.stdout.write(text + "\n")


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
        except (QuarryError, UnreadableFile, SettingsError) as error:
            click.echo(f"quarry: {error}{_where(error)}", err=True)
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
