"""How good the rankings are: every collection by every mode, through the public interface.

    python -m benchmarks.quality                                  the whole table, some minutes on two cores
    python -m benchmarks.quality --collection scifact --mode hybrid --losses 10
    python -m benchmarks.quality --limit 200                      an even sample of the questions of each collection

Scores are means over questions; `half A` and `half B` split the questions by the hash of their id: weights were chosen
on A and held on B. Null questions of MultiHop-RAG are left out here. Results go to `bench-results/quality.json`, and
the next run says what moved. `--losses` prints questions that lost most since the last run, or score least without one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import engine
from benchmarks.data import SCHEMAS, Collection, Question, data_folder, present_collections
from benchmarks.metrics import Scores, document_scores, passage_scores
from benchmarks.report import environment, read_results, table, with_change, write_results

MODES = ("lexical", "vector", "hybrid", "planned")
OUTPUT = Path("bench-results/quality.json")
DEPTH = 40
"""Passages asked for where documents are scored: ten documents need more than ten passages."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    folder = data_folder(options.data)
    before = read_results(options.output)
    cells: dict[str, Any] = dict(before.get("cells", {}))
    previous = dict(cells)
    asked = 0
    for collection in present_collections(options.collection or SCHEMAS, folder):
        asked += 1
        _run(collection, options, cells, previous)
    if not asked:
        return 1
    write_results(options.output, {"environment": environment(), "cells": cells})
    return 0


def _run(collection: Collection, options: argparse.Namespace, cells: dict[str, Any], previous: dict[str, Any]) -> None:
    questions = sample([q for q in collection.questions() if not q.is_null], options.limit)
    rows: list[list[str]] = []
    header: list[str] = []
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        started = time.perf_counter()
        count = quarry.upsert("bench", collection.documents(), schema=SCHEMAS[collection.name])
        taken = time.perf_counter() - started
        print(f"\n## {collection.name}: {count} documents in {taken:.1f} s, {len(questions)} questions\n", flush=True)
        for mode in options.mode or MODES:
            scores, times_ms = scores_of_mode(collection, questions, quarry, mode)
            means = _means(scores)
            key = f"{collection.name}/{mode}/{options.limit or 'all'}"
            last = previous.get(key, {})
            cells[key] = {"means": means, "questions": scores, "p50_ms": median(times_ms)}
            header = ["mode", *means, "half A", "half B", "p50 ms"]
            known = last.get("means", {})
            main_metric = next(iter(means))
            halves = [_half(scores, main_metric, half) for half in (0, 1)]
            cell = [with_change(value, known.get(metric)) for metric, value in means.items()]
            rows.append([mode, *cell, *(with_change(half, None) for half in halves), f"{median(times_ms):.1f}"])
            if options.losses:
                _print_losses(questions, scores, last.get("questions", {}), main_metric, options.losses)
    print(table(header, rows), flush=True)


def scores_of_mode(
    collection: Collection, questions: Sequence[Question], quarry: engine.Engine, mode: str
) -> tuple[Scores, list[float]]:
    """Scores of every question, and what each `retrieve` took in milliseconds."""
    times_ms: list[float] = []
    rankings: dict[str, list[str]] = {}
    scores: Scores = {}
    depth = 10 if collection.judges_passages else DEPTH
    for question in questions:
        started = time.perf_counter()
        hits = quarry.retrieve("bench", question.text, k=depth, mode=mode)
        times_ms.append(1e3 * (time.perf_counter() - started))
        if collection.judges_passages:
            scores[question.id] = passage_scores(question, [hit.text for hit in hits])
        rankings[question.id] = [hit.document_id for hit in hits]
    return scores or document_scores(questions, rankings), times_ms


def _means(scores: Scores) -> dict[str, float]:
    metrics = next(iter(scores.values()))
    return {metric: fmean(found[metric] for found in scores.values()) for metric in metrics}


def _half(scores: Scores, metric: str, half: int) -> float:
    held = [found[metric] for question, found in scores.items() if half_of(question) == half]
    return fmean(held) if held else 0.0


def half_of(question_id: str) -> int:
    """0 for half A, where weights are chosen, and 1 for half B, where they are confirmed."""
    return zlib.crc32(question_id.encode()) & 1


def sample(questions: list[Question], limit: int | None) -> list[Question]:
    """An even sample in file order: the same questions every time."""
    if not limit or limit >= len(questions):
        return questions
    return [questions[index * len(questions) // limit] for index in range(limit)]


def _print_losses(
    questions: Sequence[Question], scores: Scores, before: Mapping[str, Mapping[str, float]], metric: str, count: int
) -> None:
    moved = {q.id: scores[q.id][metric] - before.get(q.id, {}).get(metric, 1.0) for q in questions}
    for question in sorted(questions, key=lambda q: (moved[q.id], q.id))[:count]:
        if moved[question.id] < 0:
            print(f"{moved[question.id]:+.3f}  {question.id}  {question.text[:150]}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--collection", action="append", choices=list(SCHEMAS), help="may be repeated; default all")
    parser.add_argument("--mode", action="append", choices=MODES, help="may be repeated; default all")
    parser.add_argument("--limit", type=int, help="questions a collection")
    parser.add_argument("--losses", type=int, default=0, help="questions to show that lost most")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
