"""Questions whose evidence lies in two or more documents: how often the first documents hold all of it.

    python -m benchmarks.hops --data DATA                   HotpotQA and the invented encyclopaedia, each language of it
    python -m benchmarks.hops --only encyclopaedia_de --mode planned --misses 10
    python -m benchmarks.hops --limit 60                    an even sample of each collection

`all@8` is the share of questions with every document of their evidence among the first eight documents, `all@4` among
the first four, and `share` the mean share of them in the first eight: of `retrieve` in the modes `hybrid` and
`planned`, and of whole offline searches (`search`: documents of the results in their order; `said` is then the share
whose synthesis holds the gold answer, yes and no left out). Halves split the questions by their place, even and odd.
HotpotQA is skipped where DATA has none; the encyclopaedia is made here (`benchmarks/encyclopaedia`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import engine
from benchmarks.data import CollectionAbsent, data_folder, open_collection
from benchmarks.encyclopaedia import LANGUAGES, Asked, Encyclopaedia
from benchmarks.quality import sample
from benchmarks.report import read_results, table, with_change, write_results
from benchmarks.said import holds, mean

MODES = ("hybrid", "planned", "search")
HOTPOT = "hotpotqa_sample"
COLLECTIONS = (HOTPOT, *(f"encyclopaedia_{language}" for language in LANGUAGES))
SCHEMA = {"title": {"type": "string", "is_searchable": True}, "body": {"type": "string", "is_searchable": True}}
CONTEXT = "Answer from the documents of this collection."
OUTPUT = Path("bench-results/hops.json")
FIRST, DEPTH = 8, 40
UNSAID = ("yes", "no", "")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    before = read_results(options.output)
    results: dict[str, Any] = dict(before)
    rows: list[list[str]] = []
    figures: dict[str, float] = {}
    for name in options.only or COLLECTIONS:
        try:
            documents, questions = read(name, data_folder(options.data))
        except CollectionAbsent as absent:
            print(absent, file=sys.stderr)
            continue
        questions = sample(questions, options.limit)
        with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
            quarry.upsert("hops", documents, SCHEMA)
            for mode in options.mode or MODES:
                found, texts, times_ms = asked_of(quarry, questions, mode)
                figures = scored(questions, found, texts) | {"p50 ms": median(times_ms)}
                key = f"{name}/{mode}/{options.limit or 'all'}"
                last = before.get(key, {})
                results[key] = figures
                rows.append([name, mode, *(with_change(v, last.get(metric)) for metric, v in figures.items())])
                _print_misses(questions, found, documents, options.misses)
    if not rows:
        return 1
    write_results(options.output, results)
    print(table(["collection", "mode", *figures], rows))
    return 0


def read(name: str, folder: Path) -> tuple[list[dict[str, Any]], list[Asked]]:
    """Documents and questions of one collection. Raises `CollectionAbsent`."""
    if name != HOTPOT:
        made = Encyclopaedia(name.removeprefix("encyclopaedia_"))
        return made.documents(), made.questions()
    collection = open_collection(name, folder)
    with (collection.folder / "queries.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    questions = [Asked(r["question_type"], r["text"], frozenset(r["evidence_doc_ids"]), r["answer"]) for r in rows]
    return list(collection.documents()), questions


def asked_of(
    quarry: engine.Engine, questions: Sequence[Asked], mode: str
) -> tuple[list[list[str]], list[str], list[float]]:
    """Documents of each question, best first; what a search said; milliseconds."""
    found: list[list[str]] = []
    texts: list[str] = []
    times_ms: list[float] = []
    for question in questions:
        started = time.perf_counter()
        if mode == "search":
            response = quarry.search("hops", objective=question.text, context=CONTEXT)
            times_ms.append(1e3 * (time.perf_counter() - started))
            found.append([result.id for result in response.results])
            texts.append(response.synthesis if response.results else "")
            continue
        hits = quarry.retrieve("hops", question.text, k=DEPTH, mode=mode)
        times_ms.append(1e3 * (time.perf_counter() - started))
        found.append(list(dict.fromkeys(hit.document_id for hit in hits)))
        texts.append("")
    return found, texts, times_ms


def scored(questions: Sequence[Asked], found: Sequence[Sequence[str]], texts: Sequence[str]) -> dict[str, float]:
    """Shares over all questions, over the halves, and by form."""

    def all_in(first: int, places: Sequence[int]) -> float:
        return mean([questions[n].evidence <= set(found[n][:first]) for n in places])

    every = range(len(questions))
    figures = {"all@8": all_in(FIRST, every), "all@4": all_in(4, every)}
    pairs = zip(questions, found, strict=True)
    figures["share"] = mean([len(q.evidence & set(ids[:FIRST])) / len(q.evidence) for q, ids in pairs])
    figures["even"] = all_in(FIRST, every[::2])
    figures["odd"] = all_in(FIRST, every[1::2])
    figures["multi-hop"] = all_in(FIRST, [n for n in every if questions[n].form != "comparison"])
    spoken = [holds(text, q.answer) for q, text in zip(questions, texts, strict=True) if q.answer not in UNSAID]
    figures["said"] = mean(spoken) if any(texts) else 0.0
    return figures


def _print_misses(
    questions: Sequence[Asked], found: Sequence[Sequence[str]], documents: Sequence[dict[str, Any]], count: int
) -> None:
    titles = {document["id"]: document["title"] for document in documents}
    missed = [n for n, q in enumerate(questions) if not q.evidence <= set(found[n][:FIRST])]
    for n in missed[:count]:
        gone = [titles[id_] for id_ in sorted(questions[n].evidence - set(found[n][:FIRST]))]
        print(
            f"{questions[n].form}: {questions[n].text}\n   without {gone}\n   found {[titles[i] for i in found[n][:8]]}"
        )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--only", action="append", choices=COLLECTIONS, help="may be repeated; default all")
    parser.add_argument("--mode", action="append", choices=MODES, help="may be repeated; default all")
    parser.add_argument("--limit", type=int, help="questions a collection")
    parser.add_argument("--misses", type=int, default=0, help="questions to show whose evidence is not all there")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
