"""Tables on the terminal, results as JSON, and what changed since the last run."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("duckdb", "hnswlib", "tantivy", "wordllama", "numpy", "ir-measures")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with columns of even width."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(header), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows)])


def with_change(score: float, before: float | None) -> str:
    """``.713 (+.004)``: the score, and how far it moved since `before`.

    >>> with_change(0.713, 0.709), with_change(0.713, None), with_change(0.713, 0.713)
    ('.713 (+.004)', '.713', '.713')
    """
    shown = f"{score:.3f}".removeprefix("0")
    if before is None or abs(score - before) < 5e-4:
        return shown
    change = f"{abs(score - before):.3f}".removeprefix("0")
    return f"{shown} ({'+' if score > before else '-'}{change})"


def environment() -> dict[str, str]:
    """Commit, machine and library versions, to be stored with results."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{library: version(library) for library in LIBRARIES},
    }


def read_results(path: Path) -> Mapping[str, Any]:
    """The results of the last run; empty when there are none or they cannot be read."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, sort_keys=True))
