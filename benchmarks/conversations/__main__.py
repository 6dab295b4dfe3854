"""Follow-ups in a session, offline: does the last message decide, and is what was said before not said again?

    python -m benchmarks.conversations                  both halves, under half a minute
    python -m benchmarks.conversations --half open --losses 20

- `first`, `said`, `lost`, `near`: as in `benchmarks.everyday`, of the follow-ups alone.
- `again`: share of the answered follow-ups whose first sentence is the first of an earlier turn, where the answer was
  another.

Kinds: a `gap` changes the question before ("And on Saturday?"), a `pronoun` stands for what was asked about, a `name`
stands only in the answer before, `new` asks about something else in a few words, `near` is not in the documents.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.everyday.__main__ import HALVES, TODAY, Outcome, asked_of, is_right, scored
from benchmarks.report import table
from benchmarks.said import first_sentence, mean, percent
from engine import assembly

FOLDER = Path(__file__).parent
FIRST = "asked"
COLUMNS = ("first", "said", "lost", "near", "again")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    assembly.utc_now = lambda: TODAY
    followed: list[Outcome] = []
    again: dict[int, bool] = {}
    for half in HALVES if options.half == "both" else (options.half,):
        for path in sorted((FOLDER / half).glob("*.json")):
            told: dict[str, tuple[tuple[str, ...], ...]] = {}
            for outcome in asked_of(path, half):
                first = first_sentence(outcome.synthesis)
                if outcome.kind == FIRST:
                    told = {}
                else:
                    followed.append(outcome)
                    again[id(outcome)] = bool(outcome.parts) and told.get(first, outcome.parts) != outcome.parts
                if not outcome.refused:
                    told.setdefault(first, outcome.parts)
    groups = [
        ("half", lambda o: o.half),
        ("language", lambda o: f"{o.language} {o.half}"),
        ("kind", lambda o: f"{o.kind} {o.half}"),
    ]
    for title, of in groups:
        rows: list[list[str]] = []
        for name in dict.fromkeys(map(of, followed)):
            chosen = [o for o in followed if of(o) == name]
            figures = scored(chosen)
            repeated = [again[id(o)] for o in chosen if o.parts]
            if repeated:
                figures["again"] = mean(repeated)
            rows.append([name, str(len(chosen)), *(percent(figures.get(c, float("nan"))) for c in COLUMNS)])
        print(table([title, "follow-ups", *COLUMNS], rows), end="\n\n")
    for outcome in [o for o in followed if o.half == "open" and not is_right(o)][: options.losses]:
        wanted = " & ".join(" | ".join(part) for part in outcome.parts) or "nothing"
        print(f"{outcome.language}, {outcome.kind}: {outcome.text}\n   wanted {wanted}\n   said {outcome.synthesis!r}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--losses", type=int, default=0, help="follow-ups of the open half to show that went wrong")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
