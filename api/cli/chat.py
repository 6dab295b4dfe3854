"""``quarry chat``: questions, follow-ups and questions back, one conversation after another."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from api.cli.answers import option_named, show, show_nearest, status
from api.cli.options import filter_option, target_options
from api.cli.output import console, messages, reports_errors
from api.cli.reached import Where, reached
from api.cli.search import is_not_found
from api.cli.target import ServerError, Target
from engine import QuarryError, SearchRequest, SearchResponse

HELP = "/new begins anew, /all shows every source, /quit or Ctrl-D ends."


@click.command()
@click.argument("namespace")
@click.option("--context", help="Background of what you will ask.")
@filter_option
@target_options
@reports_errors
def chat(namespace: str, context: str | None, filters: dict[str, Any] | None, where: Where) -> None:
    """Ask NAMESPACE one question after another; each may follow up on the one before.

    A search may ask back: answer with a number or in words. Questions are read a line each, from a pipe too.
    """
    with reached(where) as target:
        conversation = _Conversation(target, namespace, context, filters)
        if sys.stdin.isatty():
            messages.print(Text(HELP, style="dim"))
        while (line := _next_line()) is not None:
            if line in {"/quit", "/exit"}:
                break
            if line:
                conversation.take(line)


class _Conversation:
    """One person's questions; a session of searches at a time."""

    def __init__(self, target: Target, namespace: str, context: str | None, filters: dict[str, Any] | None) -> None:
        self._target = target
        self._namespace = namespace
        self._context = context
        self._filters = filters
        # Asked for first, so that a mistyped namespace ends the command and not the first question.
        self._schema = target.schema(namespace)
        self._out: Console = console()
        self._last: SearchResponse | None = None

    def take(self, line: str) -> None:
        """A question, a follow-up, an answer, or a command."""
        if line == "/new":
            self._last = None
        elif line == "/all":
            if self._last is not None:
                show(self._last, self._schema, self._out, everything=True)
        elif line.startswith("/"):
            messages.print(HELP)
        else:
            try:
                self._ask(line)
            except (QuarryError, ServerError) as error:
                # The conversation goes on; a session that cannot be continued is left.
                messages.print(Text(f"quarry: {error}"))
                self._last = None
            except KeyboardInterrupt:
                messages.print("stopped")

    def _ask(self, line: str) -> None:
        before = self._last
        if before is None:
            request = SearchRequest(
                objective=line,
                context=self._context or line,
                filters=self._filters,
                include_attributes=True,
                multiturn=True,
            )
            response = self._target.search(self._namespace, request, status)
        else:
            if before.clarification_needed is not None:
                line = option_named(before.clarification_needed, line)
            response = self._target.resume(self._namespace, before.session_id, line, status)
        show(response, self._schema, self._out)
        if is_not_found(response):
            show_nearest(self._target, self._namespace, line, self._filters, self._out)
        self._out.print()
        self._last = response if response.status != "failed" else None


def _next_line() -> str | None:
    """What is asked next; None at the end."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip() if line else None
    with suppress(ImportError):
        # Lets the line be edited and earlier ones come back, where the platform has it.
        importlib.import_module("readline")
    try:
        return input("> ").strip()
    except EOFError:
        sys.stdout.write("\n")
        return None
