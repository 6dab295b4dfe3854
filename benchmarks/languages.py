"""How well each language is ranked, answered and refused: XQuAD, the same paragraphs and questions in each language.

    python -m benchmarks.languages --data DATA              every `xquad_*` folder there, both halves of the articles
    python -m benchmarks.languages --only de,es --sample 100
    python -m benchmarks.languages --half even              one half: the other confirms
    python -m benchmarks.languages --drop-language          each language without its own file of data

- nDCG@10: all paragraphs indexed, all questions asked of `retrieve` in `hybrid` mode.
- Whole searches: every other article is indexed (names sorted; `even` holds the first), and all questions are asked.
  `answered` is the share of the questions about what is indexed that got results, `refused` that of the others that got
  none; `first` and `said` the share of the questions about what is indexed whose gold answer stands, case and white
  space removed, in the first sentence of the synthesis, or in all of it. A refused question says nothing.
- `--drop-language` measures a language as one that has no data of its own.
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
from benchmarks.data import Collection, data_folder
from benchmarks.metrics import document_scores
from benchmarks.quality import sample
from benchmarks.report import read_results, table, with_change, write_results
from benchmarks.said import first_sentence, holds, mean
from engine.analysis import detection
from engine.analysis.language import Language
from engine.analysis.language import languages as languages_with_a_file
from engine.question import asked_language
from engine.question.terms import without_content

PREFIX = "xquad_"
SCHEMA = {"body": {"type": "string", "is_searchable": True}}
CONTEXT = "Answer from the documents of this collection."
OUTPUT = Path("bench-results/languages.json")
DEPTH = 40
HALVES = ("even", "odd")
SEARCHED = ("answered", "refused", "first", "said")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    folder = data_folder(options.data)
    languages = sorted(path.name.removeprefix(PREFIX) for path in folder.glob(f"{PREFIX}*") if path.is_dir())
    if options.only:
        languages = [language for language in languages if language in options.only.split(",")]
    if not languages:
        print(f"no {PREFIX}* in {folder}: name the folder with --data or QUARRY_BENCH_DATA", file=sys.stderr)
        return 1
    before = read_results(options.output)
    kind = "dropped" if options.drop_language else "as it is"
    results: dict[str, Any] = dict(before)
    rows: list[list[str]] = []
    figures: dict[str, float] = {}
    for language in languages:
        if options.drop_language:
            drop_language(language)
        collection = Collection(PREFIX + language, folder / (PREFIX + language))
        figures = measured(collection, options)
        key = f"{language}/{kind}/{options.sample or 'all'}/{options.half}"
        last = before.get(key, {})
        results[key] = figures
        rows.append([language, *(with_change(value, last.get(name)) for name, value in figures.items())])
        print(f"{language}: {', '.join(f'{name} {value:.3f}' for name, value in figures.items())}", file=sys.stderr)
    write_results(options.output, results)
    print(table(["language", *figures], rows))
    return 0


def measured(collection: Collection, options: argparse.Namespace) -> dict[str, float]:
    """Every figure of one language."""
    documents = list(collection.documents())
    questions = sample(_questions(collection.folder), options.sample)
    figures: dict[str, float] = {}
    if not options.no_ranking:
        figures["nDCG@10"] = ranked(collection, documents, options.sample)
    halves = HALVES if options.half == "both" else (options.half,)
    times_ms: list[float] = []
    by_half: list[dict[str, float]] = []
    for half in halves:
        found, taken = searched(documents, questions, half)
        by_half.append(found)
        times_ms += taken
    for name in SEARCHED:
        figures[name] = mean([found[name] for found in by_half])
    if len(halves) > 1:
        for half, found in zip(halves, by_half, strict=True):
            figures |= {f"{name} {half}": found[name] for name in ("refused", "first")}
    figures["p50 ms"] = median(times_ms)
    return figures


def ranked(collection: Collection, documents: list[dict[str, Any]], limit: int | None) -> float:
    """Mean nDCG@10 over all paragraphs."""
    questions = sample(collection.questions(), limit)
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        quarry.upsert("all", [_indexed(document) for document in documents], SCHEMA)
        rankings = {
            question.id: [hit.document_id for hit in quarry.retrieve("all", question.text, k=DEPTH)]
            for question in questions
        }
    scores = document_scores(questions, rankings)
    return mean([found["nDCG@10"] for found in scores.values()])


def searched(
    documents: list[dict[str, Any]], questions: list[dict[str, Any]], half: str
) -> tuple[dict[str, float], list[float]]:
    """Whole searches with every other article indexed; and what each took in milliseconds."""
    articles = sorted({document["article"] for document in documents})
    held = set(articles[HALVES.index(half) :: 2])
    answered: list[float] = []
    refused: list[float] = []
    first: list[float] = []
    said: list[float] = []
    times_ms: list[float] = []
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        quarry.upsert("half", [_indexed(document) for document in documents if document["article"] in held], SCHEMA)
        for question in questions:
            started = time.perf_counter()
            response = quarry.search("half", objective=question["text"], context=CONTEXT)
            times_ms.append(1e3 * (time.perf_counter() - started))
            if question["article"] not in held:
                refused.append(not response.results)
                continue
            synthesis = response.synthesis if response.results else ""
            golds = [answer["text"] for answer in question["answers"]]
            answered.append(bool(response.results))
            first.append(any(holds(first_sentence(synthesis), gold) for gold in golds))
            said.append(any(holds(synthesis, gold) for gold in golds))
    return dict(zip(SEARCHED, map(mean, (answered, refused, first, said)), strict=True)), times_ms


def drop_language(language: str) -> None:
    """Have the engine read `language` with its neutral default for the rest of this process."""
    known = languages_with_a_file()
    known[language] = Language(language, language, stemmer=known[language].stemmer if language in known else "")
    for remembered in (detection._profiles, asked_language._speaking, asked_language._told_by_words, without_content):  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
        remembered.cache_clear()


def _indexed(document: dict[str, Any]) -> dict[str, Any]:
    """Without the English name of the article, which would say in English what the paragraph is about."""
    return {name: value for name, value in document.items() if name != "article"}


def _questions(folder: Path) -> list[dict[str, Any]]:
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--only", help="languages, separated by commas")
    parser.add_argument("--sample", type=int, help="an even sample of so many questions a language")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--no-ranking", action="store_true", help="whole searches only")
    parser.add_argument("--drop-language", action="store_true", help="each language without its data file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
