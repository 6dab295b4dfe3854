"""What each step of retrieval is worth: the hybrid ranking with one step changed, over every collection.

    python -m benchmarks.ablation                    about 15 minutes on two cores
    python -m benchmarks.ablation --limit 300        an even sample of the questions

Every row changes one thing and leaves the rest as it is. The columns are nDCG@10 of SciFact, SQuAD and HotpotQA,
Hits@10, MAP@10 and Facts@10 of MultiHop-RAG, and two means over the collections: over the questions of half A, where
weights were chosen, and of half B, where they were confirmed. Each collection is indexed once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import engine
from benchmarks.data import SCHEMAS, Collection, CollectionAbsent, Question, data_folder, open_collection
from benchmarks.metrics import Scores
from benchmarks.quality import half_of, sample, scores_of_mode
from benchmarks.report import environment, table, write_results
from engine.backend.protocol import LexicalTerms
from engine.model.hits import Candidates
from engine.ranking import fusion

OUTPUT = Path("bench-results/ablation.json")
RETRIEVER = "engine.retrieval.retriever"

Change = tuple[str, Any]


def by_rank(lexical: Candidates, vector: Candidates, k: int, *, terms: int) -> Candidates:
    """Reciprocal rank fusion with equal weights."""
    del terms
    return fusion.reciprocal_rank_fusion([lexical, vector], k)


def by_range(lexical: Candidates, vector: Candidates, k: int, *, terms: int) -> Candidates:
    """.8 BM25 and .2 vectors, each as a share of its run's range."""
    del terms
    return fusion.weighted_sum([(lexical, 0.8), (vector, 0.2)], k)


def words_only(lexical: Candidates, vector: Candidates, k: int, *, terms: int) -> Candidates:
    """The lexical leg alone."""
    del vector
    return fusion.fuse(lexical, Candidates.empty(), k, terms=terms)


def fixed_weight(lexical: Candidates, vector: Candidates, k: int, *, terms: int) -> Candidates:
    """The vector weighs the same whatever the length of the question."""
    del terms
    return fusion.fuse(lexical, vector, k)


NO_BONUS: tuple[Change, ...] = tuple(
    (f"engine.ranking.rerank.{name}", 0.0)
    for name in ("COVERAGE_WEIGHT", "WINDOW_WEIGHT", "DOCUMENT_WEIGHT", "MENTION_WEIGHT")
)

VARIANTS: dict[str, tuple[Change, ...]] = {
    "as it is": (),
    "without reranking": NO_BONUS,
    "… and reciprocal rank fusion": (*NO_BONUS, (f"{RETRIEVER}.fuse", by_rank)),
    "… and .8/.2 of score ranges": (*NO_BONUS, (f"{RETRIEVER}.fuse", by_range)),
    "… and words only": (*NO_BONUS, (f"{RETRIEVER}.fuse", words_only)),
    "reranked, reciprocal rank fusion": ((f"{RETRIEVER}.fuse", by_rank),),
    "reranked, words only": ((f"{RETRIEVER}.fuse", words_only),),
    "vector weight not by length": ((f"{RETRIEVER}.fuse", fixed_weight),),
    "vector weight × 0.5": (("engine.ranking.fusion.VECTOR_WEIGHT", 0.03),),
    "vector weight × 2": (("engine.ranking.fusion.VECTOR_WEIGHT", 0.12),),
    "without coverage": (("engine.ranking.rerank.COVERAGE_WEIGHT", 0.0),),
    "without window": (("engine.ranking.rerank.WINDOW_WEIGHT", 0.0),),
    "window of 8 words": (("engine.ranking.features.WINDOW", 8),),
    "window of 30 words": (("engine.ranking.features.WINDOW", 30),),
    "without document coverage": (("engine.ranking.rerank.DOCUMENT_WEIGHT", 0.0),),
    "without mentions": (("engine.ranking.rerank.MENTION_WEIGHT", 0.0),),
    "function words count in full": (("engine.ranking.terms.STOP_WEIGHT", 1.0),),
    "function words left out": (("engine.ranking.terms.STOP_WEIGHT", 1e-6),),
    "plain idf": (("engine.ranking.terms.RARITY_EXPONENT", 0.0),),
    "header not on its own": ((f"{RETRIEVER}.LexicalTerms", partial(LexicalTerms, header_weight=0.0)),),
    "header weight 1": ((f"{RETRIEVER}.LexicalTerms", partial(LexicalTerms, header_weight=1.0)),),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--limit", type=int, help="questions a collection")
    parser.add_argument("--only", action="append", choices=list(VARIANTS), help="variants; default all")
    options = parser.parse_args(arguments)
    measured: dict[str, dict[str, Scores]] = {name: {} for name in options.only or VARIANTS}
    for name in SCHEMAS:
        try:
            collection = open_collection(name, data_folder(options.data))
        except CollectionAbsent as absent:
            print(absent, file=sys.stderr)
            continue
        _measure(collection, options.limit, measured)
    if not any(measured.values()):
        return 1
    rows = [_row(name, scores) for name, scores in measured.items()]
    print(table(["changed", *_columns(next(iter(measured.values()))), "mean A", "mean B"], rows))
    write_results(OUTPUT, {"environment": environment(), "variants": measured})
    return 0


def _measure(collection: Collection, limit: int | None, measured: dict[str, dict[str, Scores]]) -> None:
    questions: list[Question] = sample([q for q in collection.questions() if not q.is_null], limit)
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        quarry.upsert("bench", collection.documents(), schema=SCHEMAS[collection.name])
        for name, found in measured.items():
            with ExitStack() as changed:
                for target, value in VARIANTS[name]:
                    changed.enter_context(patch(target, value))
                scores, _ = scores_of_mode(collection, questions, quarry, "hybrid")
            found[collection.name] = scores
            print(f"{collection.name}: {name}", file=sys.stderr, flush=True)


def _columns(scores: dict[str, Scores]) -> list[str]:
    return [f"{name} {metric}" for name in scores for metric in _metrics(name)]


def _metrics(collection: str) -> tuple[str, ...]:
    return ("Hits@10", "MAP@10", "Facts@10") if collection == "multihop_rag" else ("nDCG@10",)


def _row(name: str, scores: dict[str, Scores]) -> list[str]:
    keep: list[Callable[[str], bool]] = [lambda _: True, lambda q: half_of(q) == 0, lambda q: half_of(q) == 1]
    cells = [_mean(found, metric, keep[0]) for of, found in scores.items() for metric in _metrics(of)]
    halves = [
        fmean(fmean(_mean(found, metric, half) for metric in _metrics(of)) for of, found in scores.items())
        for half in keep[1:]
    ]
    return [name, *(f"{cell:.3f}".removeprefix("0") for cell in cells), *(f"{half:.4f}"[1:] for half in halves)]


def _mean(scores: Scores, metric: str, keep: Callable[[str], bool]) -> float:
    return fmean(found[metric] for question, found in scores.items() if keep(question))


if __name__ == "__main__":
    sys.exit(main())
