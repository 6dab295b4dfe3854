"""Whole answers: found or honestly not found, evidence cited, tokens and cost a search.

    python -m benchmarks.agent                       Claude steps; without a key it says so and stops
    python -m benchmarks.agent --agent offline       the same table for the offline steps
    python -m benchmarks.agent --limit 40 --data ../shared/data
    python -m benchmarks.agent --recorded            depth, tokens, cache and cost of ten recorded searches; no key

Collection: MultiHop-RAG (see `benchmarks` in the documentation for where it comes from); questions are drawn with a
fixed seed, a quarter of them without an answer in the corpus. Every search calls the live service and costs money: the
bill is printed as it grows, at list prices without the discount for cache reads, so it is an upper bound.

- answered: share of answerable questions with results; not found: share of null questions without.
- facts: share of gold evidence sentences that an excerpt holds, white space removed.
- answer: share of answerable questions whose gold answer stands in the synthesis, case folded.
- verbatim: share of excerpts that stand in their document; anything below 1 is a defect.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine
from engine.errors import QuarryError
from engine.model.search import SearchResponse
from engine.settings import EngineSettings, ModelSettings

SEED = 20261121
NULL_SHARE = 0.25
PRICES = {"claude-sonnet-5-5": (2.0, 10.0), "claude-haiku-5-5": (0.1, 0.5), "claude-opus-5-5": (4.0, 20.0)}
"""US dollars a million tokens, input and output; check them before you rely on a bill."""
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "source": {"type": "string", "is_filterable": True},
    "category": {"type": "string", "is_filterable": True},
    "author": {"type": "string", "is_filterable": True},
    "published_at": {"type": "datetime", "is_filterable": True},
}
CONTEXT = "Questions about a collection of news articles. Some need several articles; some have no answer in it."


@dataclass
class Row:
    """Sums over the questions of one type."""

    questions: int = 0
    found: int = 0
    answers: int = 0
    facts: int = 0
    facts_held: int = 0
    excerpts: int = 0
    verbatim: int = 0
    failed: int = 0
    degraded: int = 0
    seconds: list[float] = field(default_factory=list)


def lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def squeezed(text: str) -> str:
    return "".join(text.split())


def sample(queries: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    rng = random.Random(SEED)
    nulls = [q for q in queries if q["question_type"] == "null_query"]
    others = [q for q in queries if q["question_type"] != "null_query"]
    wanted = min(len(nulls), round(limit * NULL_SHARE))
    chosen = rng.sample(nulls, wanted) + rng.sample(others, min(len(others), limit - wanted))
    rng.shuffle(chosen)
    return chosen


def score(row: Row, query: dict[str, Any], response: SearchResponse, documents: dict[str, dict[str, Any]]) -> None:
    row.failed += response.status == "failed"
    row.found += bool(response.results)
    row.degraded += "rules and extraction" in response.synthesis
    excerpts = [(result.id, excerpt) for result in response.results for excerpt in result.excerpts]
    row.excerpts += len(excerpts)
    row.verbatim += sum(any(text in str(v) for v in documents[key].values()) for key, text in excerpts)
    held = [squeezed(text) for _, text in excerpts]
    for evidence in query.get("evidence") or ():
        row.facts += 1
        row.facts_held += any(squeezed(evidence["fact"]) in text for text in held)
    row.answers += str(query.get("answer", "")).casefold() in response.synthesis.casefold()


def report(rows: dict[str, Row], bill: dict[str, tuple[int, int]], searches: int) -> None:
    print(
        f"\n{'type':<18}{'n':>5}{'found':>8}{'facts':>8}{'answer':>8}"
        f"{'verbatim':>10}{'failed':>8}{'twin':>6}{'p50 s':>8}"
    )
    for kind, row in sorted(rows.items()):
        facts = f"{row.facts_held / row.facts:.3f}" if row.facts else "-"
        verbatim = f"{row.verbatim / row.excerpts:.3f}" if row.excerpts else "-"
        print(
            f"{kind:<18}{row.questions:>5}{row.found / row.questions:>8.3f}{facts:>8}"
            f"{row.answers / row.questions:>8.3f}{verbatim:>10}{row.failed:>8}{row.degraded:>6}"
            f"{statistics.median(row.seconds):>8.2f}"
        )
    print("\nfound of null_query should be near 0, of the others near 1; twin: answers with a step done offline")
    for model, (given, written) in bill.items():
        dollars = cost(model, given, written)
        print(
            f"{model}: {given / searches:,.0f} tokens in, {written / searches:,.0f} out a search; "
            + (
                f"${dollars / searches:.4f} a search, ${dollars:.2f} in all"
                if dollars is not None
                else "no price known"
            )
        )


def cost(model: str, given: int, written: int) -> float | None:
    if model not in PRICES:
        return None
    price_in, price_out = PRICES[model]
    return (given * price_in + written * price_out) / 1e6


def tokens_of(quarry: engine.Engine) -> dict[str, tuple[int, int]]:
    """Tokens in (cache reads and writes included) and out, by model."""
    return {
        model: (usage.input + usage.cache_read + usage.cache_write, usage.output)
        for model, usage in quarry._core.model_tokens().items()  # noqa: SLF001 - a bill by model is not part of the API
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("QUARRY_BENCH_DATA", "../shared/data")))
    parser.add_argument("--limit", type=int, default=40, help="questions")
    parser.add_argument("--agent", choices=["claude", "offline"], default="claude")
    parser.add_argument("--recorded", action="store_true", help="recorded searches instead of the live service")
    args = parser.parse_args()
    if args.recorded:
        # The fake of the service is part of the tests, which an installation may lack.
        from benchmarks.recorded import recorded, table

        print(table(recorded()))
        return 0
    key = os.environ.get("ANTHROPIC_API_KEY")
    if args.agent == "claude" and not key:
        print("ANTHROPIC_API_KEY is not set: the Claude steps were not measured. Use --agent offline for the others.")
        return 0
    folder = args.data / "multihop_rag"
    if not folder.is_dir():
        print(f"No evaluation data at {folder}: nothing was measured.")
        return 0
    documents = {document["id"]: document for document in lines(folder / "documents.jsonl")}
    chosen = sample(lines(folder / "queries.jsonl"), args.limit)
    model = ModelSettings(
        model=os.environ.get("QUARRY_MODEL", ModelSettings().model),
        fast_model=os.environ.get("QUARRY_FAST_MODEL"),
        api_key=key,
    )
    rows: dict[str, Row] = defaultdict(Row)
    with (
        tempfile.TemporaryDirectory() as directory,
        engine.open(directory, settings=EngineSettings(agent=args.agent, llm=model)) as quarry,
    ):
        quarry.upsert("news", documents.values(), schema=SCHEMA)
        if problems := quarry._core.model_problems():  # noqa: SLF001
            print("\n".join(problems), file=sys.stderr)
            return 1
        for number, query in enumerate(chosen, 1):
            row = rows[query["question_type"]]
            begin = time.perf_counter()
            try:
                response = quarry.search("news", objective=query["text"], context=CONTEXT)
            except QuarryError as error:
                print(f"{query['id']}: {error.code}", file=sys.stderr)
                return 1
            row.seconds.append(time.perf_counter() - begin)
            row.questions += 1
            score(row, query, response, documents)
            spent = sum(cost(name, *tokens) or 0.0 for name, tokens in tokens_of(quarry).items())
            print(f"\r{number}/{len(chosen)}  ${spent:.2f}", end="", file=sys.stderr, flush=True)
        report(rows, tokens_of(quarry), len(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
