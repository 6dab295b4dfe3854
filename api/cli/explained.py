"""How an answer came about, on a terminal: what was planned, searched, kept back, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from api.cli.output import counted
from engine import Explanation, ModelCall

_AMOUNTS = ("input", "output", "cache_read", "cache_write")
_HEADINGS = ("step", "calls", "outcome", "in", "out", "cached", "stored")


def show_explanation(told: Explanation, out: Console) -> None:
    """Plan, queries, dropped conditions, rounds, what was kept back and why, tokens; empty parts are left out."""
    _heading(out, f"Plan ({told.shape})" if told.shape else "Plan")
    _numbered(out, told.parts)
    _heading(out, "Queries")
    for query in told.queries:
        hits = f"{counted(query.hits, 'hit')}, {query.new:,} new"
        out.print(Text.assemble(f"  {query.text}", (f"  {query.mode}, round {query.round}, {hits}", "dim")))
        if query.narrowing:
            out.print(Text(f"    only {_json(query.narrowing)}"))
    if told.dropped_conditions:
        _heading(out, "Conditions that the schema does not allow")
        _listed(out, told.dropped_conditions)
    out.print()
    evidence = f"{counted(told.read, 'passage')} read, {told.evidence:,} with evidence"
    out.print(Text(f"{counted(told.rounds, 'round')}, {evidence}, {counted(told.checked, 'statement')} checked"))
    if told.removed:
        _heading(out, "Kept back")
        for removal in told.removed:
            done = "mended" if removal.mended else "left out"
            out.print(Text.assemble(f"  {removal.part}, {done}: ", (removal.text, "italic")))
            for reason in removal.reasons:
                out.print(Text(f"    {reason}"))
    if told.degraded:
        _heading(out, "Done by rules")
        _listed(out, told.degraded)
    if told.calls:
        _heading(out, "Model")
        _show_calls(told, out)


def _show_calls(told: Explanation, out: Console) -> None:
    groups: dict[tuple[str, str], list[ModelCall]] = {}
    for call in told.calls:
        groups.setdefault((call.step, call.outcome), []).append(call)
    rows = [
        (step, f"{len(calls):,}", outcome, *(f"{sum(getattr(call, name) for call in calls):,}" for name in _AMOUNTS))
        for (step, outcome), calls in groups.items()
    ]
    table = [_HEADINGS, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADINGS))]
    for row in table:
        cells = [
            cell.ljust(width) if column in (0, 2) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.print(Text("  " + "  ".join(cells).rstrip(), style="bold" if row is _HEADINGS else ""))
    out.print(Text(f"  {counted(len(told.calls), 'call')}, {counted(told.tokens, 'token')}"))


def _heading(out: Console, text: str) -> None:
    out.print()
    out.print(Text(text, style="bold"))


def _numbered(out: Console, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines, 1):
        out.print(Text(f"  {number}. {line}"))


def _listed(out: Console, lines: Iterable[str]) -> None:
    for line in lines:
        out.print(Text(f"  {line}"))


def _json(value: Mapping[str, object]) -> str:
    return msgspec.json.encode(value).decode()
