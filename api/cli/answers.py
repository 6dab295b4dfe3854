"""How an answer looks on a terminal: what was found, then what it was found in."""

from __future__ import annotations

from collections.abc import Mapping

import click
from rich.console import Console
from rich.text import Text

from api.cli.output import counted, messages
from api.cli.target import ServerError, Target
from api.cli.titles import date_of, placed, title_of
from engine import Clarification, Definition, QuarryError, Result, SearchResponse

SHOWN = 3
"""Results with an excerpt, unless all are asked for; the others take one line each."""
LISTED = 8
"""Results that are shown at all unless all are asked for: with the answer they fill a screen."""
EXCERPT_CHARACTERS = 300
"""Of an excerpt, unless all is asked for."""
NEAREST = 3


def status(message: str) -> None:
    """A line of progress on stderr."""
    messages.print(Text(f"· {message}", style="dim"))


def show(
    response: SearchResponse,
    schema: Mapping[str, Definition],
    out: Console,
    *,
    everything: bool = False,
    most: int = LISTED,
) -> None:
    """The answer, then its sources: enough of them to fill a screen, or all with every excerpt.

    Args:
        response: with the attributes of its results.
        most: how many results are shown where `everything` is False.
    """
    if response.error is not None:
        out.print(Text(f"The search failed: {response.error.message}"))
        return
    if response.clarification_needed is not None:
        show_question(response.clarification_needed, out)
        return
    out.print(Text(response.synthesis))
    results = response.results if everything else response.results[:most]
    if results:
        out.print()
    for number, result in enumerate(results, 1):
        _show_result(number, result, schema, out, everything=everything)
    if left := len(response.results) - len(results):
        out.print(Text(f"… and {counted(left, 'more source')}; --all shows everything", style="dim"))
    scanned = counted(response.documents_scanned, "document")
    queries = f"{response.queries_executed:,} {'query' if response.queries_executed == 1 else 'queries'}"
    out.print()
    out.print(Text(f"{scanned} scanned, {queries}", style="dim"))


def show_question(asked: Clarification, out: Console) -> None:
    """A question back, with its options numbered."""
    out.print(Text(asked.question, style="bold"))
    for number, option in enumerate(asked.options, 1):
        out.print(Text(f"  {number}. {option}"))


def answer_to(asked: Clarification) -> str:
    """What the person at the terminal answers; a number stands for its option."""
    show_question(asked, messages)
    answer = click.prompt("Your answer", err=True)
    return option_named(asked, answer)


def option_named(asked: Clarification, answer: str) -> str:
    """The option that a number names, else `answer` itself."""
    number = int(answer) if answer.isascii() and answer.isdigit() else 0
    return asked.options[number - 1] if 0 < number <= len(asked.options) else answer


def show_nearest(
    target: Target, namespace: str, objective: str, filters: dict[str, object] | None, out: Console
) -> None:
    """The documents that come nearest to a question that no document answers."""
    try:
        hits = target.retrieve(namespace, objective, NEAREST * 4, filters, "hybrid")
        ids = list(dict.fromkeys(hit.document_id for hit in hits))[:NEAREST]
        found = [(each, target.get(namespace, each)) for each in ids]
    except (QuarryError, ServerError):
        # A kindness beside the answer: a key that may only search goes without.
        return
    if found:
        out.print()
        out.print(Text("Nearest documents:", style="bold"))
    for document_id, document in found:
        title = title_of(document)
        out.print(Text.assemble("  ", (document_id, "cyan"), f"  {title}" if title else ""))


def _show_result(
    number: int, result: Result, schema: Mapping[str, Definition], out: Console, *, everything: bool
) -> None:
    document = result.attributes or {}
    title, day = title_of(document), date_of(document, schema)
    head = Text.assemble((f"[{number}] ", "bold"), (title or result.id, "bold cyan"))
    for more in (day, result.id if title else ""):
        if more:
            head.append(f"  {more}", style="dim")
    out.print(head)
    if everything:
        out.print(Text(f"    {result.finding}"))
    elif number > SHOWN:
        return
    for excerpt in result.excerpts if everything else result.excerpts[:1]:
        around = placed(excerpt, document)
        text = " ".join(around.excerpt.split())
        if not everything and len(text) > EXCERPT_CHARACTERS:
            text = text[:EXCERPT_CHARACTERS].rpartition(" ")[0] + " …"
        out.print(
            Text.assemble(
                "    ", (around.before.lstrip(), "dim"), "“", (text, "italic"), "”", (around.after.rstrip(), "dim")
            )
        )
