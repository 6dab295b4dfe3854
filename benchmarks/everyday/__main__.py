"""Whole offline searches over the everyday collections: what is said, what is refused, by half, language and kind.

    python -m benchmarks.everyday                       both halves, one to two minutes
    python -m benchmarks.everyday --half open --losses 20
    python -m benchmarks.everyday --only handbook --kind follow-up

- `first`: share of the questions that the documents answer whose answer stands in the first sentence of the synthesis,
  case and white space left out; of an answer in several parts, one of them. `said`: every part stands somewhere in it.
- `lost`: share of the questions that the documents answer that got no results.
- `near`: share of the near misses (the subject is in the documents, the answer is not) that got no results. `off`: the
  same of questions about something else.
- A follow-up continues the session of the question before it. The day of the searches is 15 June 2026.

`--losses` shows questions of the open half only: the closed half is scored and never shown.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import engine
from benchmarks.report import read_results, table, with_change, write_results
from benchmarks.said import first_sentence, holds, mean
from engine import assembly

FOLDER = Path(__file__).parent
HALVES = ("open", "closed")
CONTEXT = "Answer from the documents of this collection."
TODAY = datetime(2026, 6, 15, 9, tzinfo=UTC)
OUTPUT = Path("bench-results/everyday.json")
NEAR, OFF = "near", "off"
COLUMNS = ("first", "said", "lost", "near", "off")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Outcome:
    """One question and what came back.

    Attributes:
        parts: the forms in which each part of the answer may be said; empty where the documents do not answer.
    """

    half: str
    collection: str
    language: str
    kind: str
    text: str
    parts: tuple[tuple[str, ...], ...]
    synthesis: str
    refused: bool
    took_ms: float

    @property
    def is_first(self) -> bool:
        first = first_sentence(self.synthesis)
        return not self.refused and any(holds(first, form) for part in self.parts for form in part)

    @property
    def is_said(self) -> bool:
        return not self.refused and all(any(holds(self.synthesis, form) for form in part) for part in self.parts)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    assembly.utc_now = lambda: TODAY  # "Last month" means the same every day.
    outcomes: list[Outcome] = []
    for half in HALVES if options.half == "both" else (options.half,):
        for path in sorted((FOLDER / half).glob("*.json")):
            if not options.only or path.stem in options.only:
                outcomes += asked_of(path, half)
    if options.kind:
        outcomes = [o for o in outcomes if o.kind in options.kind]
    if not outcomes:
        print("nothing was asked", file=sys.stderr)
        return 1
    before = read_results(options.output)
    results = dict(before)
    for title, of in _GROUPS.items():
        names = list(dict.fromkeys(of(o) for o in outcomes))
        rows: list[list[str]] = []
        for name in names:
            figures = scored([o for o in outcomes if of(o) == name])
            last = before.get(f"{title}/{name}/{options.half}", {})
            results[f"{title}/{name}/{options.half}"] = figures
            cells = [with_change(figures[c], last.get(c)) if c in figures else "–" for c in COLUMNS]
            rows.append([name, *(str(count) for count in _counts(outcomes, of, name)), *cells])
        print(table([title, "answered", "near", "off", *COLUMNS], rows), end="\n\n")
    print(f"p50 {median(o.took_ms for o in outcomes):.1f} ms")
    if not (options.only or options.kind):
        write_results(options.output, results)
    for outcome in [o for o in outcomes if o.half == "open" and not is_right(o)][: options.losses]:
        wanted = " & ".join(" | ".join(part) for part in outcome.parts) or "nothing"
        print(
            f"{outcome.collection}, {outcome.kind}: {outcome.text}\n   wanted {wanted}\n   said {outcome.synthesis!r}"
        )
    return 0


def asked_of(path: Path, half: str) -> Iterator[Outcome]:
    """Every question of one collection, follow-ups after the question that they continue."""
    held = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        quarry.upsert("everyday", held["documents"], schema_of(held["documents"]))
        for question in held["questions"]:
            session = None
            for asked in (question, *question.get("then", ())):
                started = time.perf_counter()
                if session is None:
                    response = quarry.search("everyday", objective=asked["text"], context=CONTEXT)
                else:
                    response = quarry.continue_search("everyday", session, message=asked["text"])
                yield Outcome(
                    half=half,
                    collection=path.stem,
                    language=held["language"],
                    kind=asked["kind"],
                    text=asked["text"],
                    parts=tuple(tuple(part) for part in asked.get("answer", ())),
                    synthesis=response.synthesis,
                    refused=not response.results,
                    took_ms=1e3 * (time.perf_counter() - started),
                )
                session = response.session_id


def schema_of(documents: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Title and body are searched, all else is filtered by; values that are all dates are a date."""
    schema: dict[str, dict[str, Any]] = {name: {"type": "string", "is_searchable": True} for name in ("title", "body")}
    for name in {name for document in documents for name in document} - {"id", "title", "body"}:
        values = [str(document[name]) for document in documents if name in document]
        dates = all(_DATE.fullmatch(value) for value in values)
        schema[name] = {"type": "datetime" if dates else "string", "is_filterable": True}
    return schema


def scored(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The columns that these outcomes have questions for."""
    answerable = [o for o in outcomes if o.parts]
    figures: dict[str, float] = {}
    if answerable:
        figures["first"] = mean([o.is_first for o in answerable])
        figures["said"] = mean([o.is_said for o in answerable])
        figures["lost"] = mean([o.refused for o in answerable])
    for kind in (NEAR, OFF):
        refused = [o.refused for o in outcomes if o.kind == kind]
        if refused:
            figures[kind] = mean(refused)
    return figures


def _counts(outcomes: Sequence[Outcome], of: Callable[[Outcome], str], name: str) -> tuple[int, int, int]:
    held = [o for o in outcomes if of(o) == name]
    return (
        sum(bool(o.parts) for o in held),
        sum(o.kind == NEAR for o in held),
        sum(o.kind == OFF for o in held),
    )


def is_right(outcome: Outcome) -> bool:
    return outcome.is_first and outcome.is_said if outcome.parts else outcome.refused


_GROUPS: Mapping[str, Callable[[Outcome], str]] = {
    "half": lambda o: o.half,
    "language": lambda o: f"{o.language} {o.half}",
    "kind": lambda o: o.kind,
}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--only", action="append", help="a collection by the name of its file; may be repeated")
    parser.add_argument("--kind", action="append", help="a kind of question; may be repeated")
    parser.add_argument("--losses", type=int, default=0, help="questions of the open half to show that went wrong")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
