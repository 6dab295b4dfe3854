"""``quarry search`` and ``quarry retrieve``: an answer, or the passages that answers are made of."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec
from rich.text import Text

from api.cli.answers import answer_to, show, show_nearest, status
from api.cli.explained import show_explanation
from api.cli.options import filter_option, json_option, target_options
from api.cli.output import FAILED, console, print_json, reports_errors
from api.cli.reached import Where, reached
from api.cli.target import Mode
from engine import SearchRequest, SearchResponse


@click.command()
@click.argument("namespace")
@click.argument("objective")
@click.option("--context", help="Background of the question; the objective itself when left out.")
@filter_option
@click.option("--all", "everything", is_flag=True, help="Show every source with its finding and all excerpts.")
@click.option(
    "--explain", is_flag=True, help="Add how the answer came about: plan, queries, what was kept back, tokens."
)
@click.option("--include-attributes", is_flag=True, help="Add each source document to the JSON output.")
@click.option("--interactive", is_flag=True, help="Let the search ask back, and answer on the terminal.")
@target_options
@json_option
@reports_errors
def search(
    namespace: str,
    objective: str,
    context: str | None,
    filters: dict[str, Any] | None,
    everything: bool,  # noqa: FBT001 - click passes flags by name
    explain: bool,  # noqa: FBT001
    include_attributes: bool,  # noqa: FBT001
    interactive: bool,  # noqa: FBT001
    where: Where,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Ask NAMESPACE for OBJECTIVE. Progress goes to stderr, the cited answer to stdout."""
    if explain and where.url is not None:
        raise click.UsageError("--explain needs a data directory: a server does not tell how an answer came about.")
    request = SearchRequest(
        objective=objective,
        context=context or objective,
        filters=filters,
        # Titles, dates and what stands around an excerpt come from the documents.
        include_attributes=include_attributes or not as_json,
        multiturn=interactive,
    )
    with reached(where) as target:
        response = target.search(namespace, request, status)
        while interactive and response.clarification_needed is not None:
            answer = answer_to(response.clarification_needed)
            response = target.resume(namespace, response.session_id, answer, status)
        if as_json:
            fields = msgspec.to_builtins(response)
            print_json(fields if explain else {name: fields[name] for name in fields if name != "explain"})
        else:
            out = console()
            show(response, target.schema(namespace), out, everything=everything)
            if is_not_found(response):
                show_nearest(target, namespace, objective, filters, out)
            if explain and response.explain is not None:
                show_explanation(response.explain, out)
    if response.status == "failed":
        sys.exit(FAILED)


def is_not_found(response: SearchResponse) -> bool:
    """Whether the search ended well and nothing answers."""
    return response.status == "completed" and not response.results


@click.command()
@click.argument("namespace")
@click.argument("text")
@click.option("-k", type=click.IntRange(1, 1_000), default=10, show_default=True, help="At most so many passages.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "vector", "planned"]),
    default="hybrid",
    show_default=True,
    help="By words and meaning, by one of them, or with the queries that a search would plan.",
)
@filter_option
@target_options
@json_option
@reports_errors
def retrieve(
    namespace: str,
    text: str,
    k: int,
    mode: Mode,
    filters: dict[str, Any] | None,
    where: Where,
    as_json: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    """Print the passages of NAMESPACE that fit TEXT best, best first."""
    with reached(where) as target:
        hits = target.retrieve(namespace, text, k, filters, mode)
    if as_json:
        print_json({"hits": msgspec.to_builtins(hits)})
        return
    out = console()
    for number, hit in enumerate(hits, 1):
        head = (f"{number}. ", "bold"), (hit.document_id, "bold cyan")
        out.print(Text.assemble(*head, (f"  {hit.attribute}  score {hit.score:.3f}", "dim")))
        out.print(Text("    " + " ".join(hit.text.split())))
    if not hits:
        out.print("No passage fits.")
