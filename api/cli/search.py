"""``quarry search``: a question, answered on the terminal."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from api.cli.opened import existing
from api.cli.options import JSON_OBJECT, company_option, data_option, json_option
from api.cli.output import FAILED, console, messages, print_json, reports_errors
from engine import Engine, SearchResponse, StatusEvent


@click.command()
@click.argument("namespace")
@click.argument("objective")
@click.option("--context", help="Background of the question; the objective itself when left out.")
@click.option("--filter", "filters", type=JSON_OBJECT, help="Attribute filter as JSON, or @FILE.")
@click.option("--include-attributes", is_flag=True, help="Add each source document to the JSON output.")
@click.option("--interactive", is_flag=True, help="Let the search ask back, and answer on the terminal.")
@data_option
@company_option
@json_option
@reports_errors
def search(
    namespace: str,
    objective: str,
    context: str | None,
    filters: dict[str, Any] | None,
    include_attributes: bool,  # noqa: FBT001 - click passes flags by name
    interactive: bool,  # noqa: FBT001
    data: Path | None,
    company: str,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Ask NAMESPACE for OBJECTIVE. Progress goes to stderr, the cited answer to stdout."""
    with existing(data, company) as quarry:
        response = asyncio.run(
            ask(
                quarry,
                namespace,
                objective=objective,
                context=context or objective,
                filters=filters,
                include_attributes=include_attributes,
                multiturn=interactive,
            )
        )
        while interactive and response.clarification_needed is not None:
            answer = _ask_back(response)
            response = asyncio.run(_continue(quarry, namespace, response.session_id, answer))
    if as_json:
        print_json(response)
    else:
        show(response, console())
    if response.status == "failed":
        sys.exit(FAILED)


async def ask(quarry: Engine, namespace: str, **request: Any) -> SearchResponse:
    """The last event of a search whose status messages go to stderr."""
    return await _last(await quarry.stream(namespace, **request))


async def _continue(quarry: Engine, namespace: str, session_id: str, message: str) -> SearchResponse:
    return await _last(await quarry.continue_stream(namespace, session_id, message=message))


async def _last(events: Any) -> SearchResponse:
    response: SearchResponse | None = None
    async for event in events:
        if isinstance(event, StatusEvent):
            messages.print(Text(f"· {event.message}", style="dim"))
        else:
            response = event.response
    if response is None:
        raise RuntimeError("a search ended without a result")
    return response


def _ask_back(response: SearchResponse) -> str:
    asked = response.clarification_needed
    if asked is None:
        raise RuntimeError("nothing was asked")
    messages.print(Text(asked.question, style="bold"))
    for number, option in enumerate(asked.options, 1):
        messages.print(Text(f"  {number}. {option}"))
    answer = click.prompt("Your answer", err=True)
    return asked.options[int(answer) - 1] if answer.isdigit() and 0 < int(answer) <= len(asked.options) else answer


def show(response: SearchResponse, out: Console, *, most: int | None = None) -> None:
    """Synthesis, then the first `most` results with their excerpts, as a person reads them; None shows all."""
    if response.error is not None:
        out.print(Text(f"The search failed: {response.error.message}"))
        return
    if response.clarification_needed is not None:
        out.print(Text(response.clarification_needed.question))
        for option in response.clarification_needed.options:
            out.print(Text(f"  - {option}"))
        return
    out.print(Text(response.synthesis))
    for number, result in enumerate(response.results[:most], 1):
        out.print()
        out.print(Text.assemble((f"[{number}] ", "bold"), (result.id, "bold cyan"), f"  {result.finding}"))
        for excerpt in result.excerpts:
            out.print(Text(f"    “{excerpt}”", style="dim"))
    if most is not None and len(response.results) > most:
        out.print(Text(f"\n… and {len(response.results) - most} more results", style="dim"))
    out.print()
    out.print(Text(f"{response.documents_scanned} documents scanned, {response.queries_executed} queries", style="dim"))
