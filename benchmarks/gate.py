"""The gate's two errors: correct statements that it keeps back, and wrong ones that it lets through.

    python -m benchmarks.gate            two tables
    python -m benchmarks.gate --show     every statement that it judges wrongly, with its reasons

Statements as a model would write them over passages (`gate_statements.toml`), in English, German, Spanish and French;
each cites the sentences that it rests on, with the rest of the passage, its title and its attribute values around it.
All of it was written for this measurement and the gate was mended on it, first on one file and then on the other, so
the rates say which classes the gate knows, and bound nothing elsewhere.

- sure: faults of which the gate is sure. They keep a statement back whatever the reader of statements says of it.
- with doubts: what decides where no model reads the statement: the sure faults and the doubts.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from engine.agent.answer.gate import Fault, Sources, faults_of
from engine.agent.drafts import Computed

STATEMENTS = Path(__file__).parent / "gate_statements.toml"
SECOND = Path(__file__).parent / "gate_second.toml"


class Judged(NamedTuple):
    """A statement and what the gate finds wrong with it; `kind` is ``true``, or that of its fault."""

    language: str
    kind: str
    text: str
    faults: list[Fault]

    @property
    def is_surely_kept_back(self) -> bool:
        """Whether a reader could not save it."""
        return any(fault.is_sure for fault in self.faults)


def judged(path: Path = STATEMENTS) -> Iterator[Judged]:
    """Every statement of the file, judged."""
    for passage in tomllib.loads(path.read_text(encoding="utf-8"))["passage"]:
        declared: dict[str, list[Computed]] = {}
        for text, value, kind, terms in passage.get("computed", ()):
            declared.setdefault(text, []).append(Computed(value, kind, tuple(terms)))
        for statement in passage["true"]:
            cited, text = statement.split("|", 1)
            yield _judged(passage, "true", cited, text, declared.get(text, []))
        for statement in passage["false"]:
            kind, cited, text = statement.split("|", 2)
            yield _judged(passage, kind, cited, text, [])


def _judged(passage: dict[str, Any], kind: str, cited: str, text: str, computed: list[Computed]) -> Judged:
    sources = Sources(
        excerpts=tuple(passage["text"][int(number) - 1] for number in cited.split(",")),
        around=(" ".join(passage["text"]), passage["title"], *passage["values"]),
        asked=(passage["asked"],),
        cited=1,
    )
    return Judged(passage["language"], kind, text, faults_of(text, sources, computed, is_written=True))


def table(rows: list[Judged]) -> str:
    """Shares by language of what is true, and by kind of what is false."""
    lines = ["| statements | number | kept back, sure | kept back, with doubts |", "|---|---|---|---|"]
    correct = [r for r in rows if r.kind == "true"]
    groups = [(f"correct, {code}", [r for r in correct if r.language == code]) for code in _codes(rows)]
    groups += [("**correct**", correct)]
    wrong = [r for r in rows if r.kind != "true"]
    groups += [(f"wrong {kind}", [r for r in wrong if r.kind == kind]) for kind in sorted({r.kind for r in wrong})]
    groups += [("**wrong**", wrong)]
    for name, group in groups:
        sure = sum(row.is_surely_kept_back for row in group) / len(group)
        doubted = sum(bool(row.faults) for row in group) / len(group)
        lines.append(f"| {name} | {len(group)} | {sure:.2f} | {doubted:.2f} |")
    return "\n".join(lines)


def _codes(rows: list[Judged]) -> list[str]:
    return [code for code, _ in Counter(row.language for row in rows).most_common()]


def show(rows: list[Judged]) -> None:
    """Print what is judged wrongly."""
    for row in rows:
        if (row.kind == "true") == bool(row.faults):
            print(f"{row.language} {row.kind}: {row.text}")
            for fault in row.faults:
                print(f"    {'sure' if fault.is_sure else 'doubt'}: {fault.reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print what is judged wrongly")
    args = parser.parse_args()
    for path in (STATEMENTS, SECOND):
        rows = list(judged(path))
        if args.show:
            show(rows)
        print(f"{path.name}\n\n{table(rows)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
