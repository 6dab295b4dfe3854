"""What each step of retrieval is worth: the hybrid ranking with one step changed, over every collection.

    python -m benchmarks.ablation                    an even sample of 600 questions a collection: 7 minutes of CPU
    python -m benchmarks.ablation --limit 0          all questions
    python -m benchmarks.ablation --only "as it is" --only "without phrases"

Every row changes one thing and leaves the rest as it is. The columns are nDCG@10 of SciFact, SQuAD and HotpotQA,
Hits@10, MAP@10 and Facts@10 of MultiHop-RAG, and two means over the collections: over the questions of half A, where
weights were chosen, and of half B, where they were confirmed. Each collection is indexed once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np

import engine
from benchmarks.data import SCHEMAS, Collection, Question, data_folder, present_collections
from benchmarks.metrics import Scores
from benchmarks.quality import half_of, sample, scores_of_mode
from benchmarks.report import environment, table, write_results
from engine.backend.protocol import LexicalTerms
from engine.embedding.protocol import Embedder
from engine.model.hits import Candidates, Vectors
from engine.ranking import fusion, weights
from engine.retrieval import query_vector

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


def reweighed(*, question: dict[str, float] | None = None, statement: dict[str, float] | None = None) -> list[Change]:
    """Both sets of weights with some of them changed."""
    return [
        ("engine.ranking.rerank.QUESTION", replace(weights.QUESTION, **(question or {}))),
        ("engine.ranking.rerank.STATEMENT", replace(weights.STATEMENT, **(statement or {}))),
    ]


def without(*features: str) -> list[Change]:
    """No weight for `features`, neither in questions nor in statements."""
    none = dict.fromkeys(features, 0.0)
    return reweighed(question=none, statement=none)


def by_mean(embedder: Embedder, text: str, rarity: Mapping[str, float]) -> Vectors:
    """The vector of a question as the embedder gives it."""
    del rarity
    return embedder.embed_queries([text])[0]


def by_rarity_only(embedder: Embedder, text: str, rarity: Mapping[str, float]) -> Vectors:
    """Words times their idf, without the mean."""
    middle = query_vector.weighted_by_rarity(embedder, text, rarity)
    mean = embedder.embed_queries([text])[0]
    # The middle of two unit vectors is their scaled sum: the other one mirrors the mean in it.
    return (2.0 * float(middle @ mean) * middle - mean).astype(np.float32)


NO_RERANKING = without(*(field.name for field in fields(weights.FeatureWeights)))
FUSE, VECTOR, HEADER = f"{RETRIEVER}.fuse", f"{RETRIEVER}.weighted_by_rarity", f"{RETRIEVER}.LexicalTerms"

KEPT: dict[str, list[Change]] = {
    "as it is": [],
    "without reranking": NO_RERANKING,
    "… and words only": [*NO_RERANKING, (FUSE, words_only)],
    "reranked, words only": [(FUSE, words_only)],
    "vector weight not by length": [(FUSE, fixed_weight)],
    "mean of the words as query vector": [(VECTOR, by_mean)],
    "one set of weights: questions'": reweighed(statement=asdict(weights.QUESTION)),
    "one set of weights: statements'": reweighed(question=asdict(weights.STATEMENT)),
    "without coverage": without("coverage"),
    "without window": without("window"),
    "without window and header": without("headed_window"),
    "without phrases": without("phrase"),
    "without named share of the header": without("named"),
    "without document coverage": without("document"),
    "without nearness": without("nearness"),
    "without mentions": without("mention"),
    "function words count in full": [("engine.ranking.terms.STOP_WEIGHT", 1.0)],
    "plain idf": [("engine.ranking.terms.RARITY_EXPONENT", 0.0)],
    "no slip of the pen forgiven": [("engine.lexical.spelling.SHORTEST", 1_000)],
    "read in every language held": [("engine.lexical.reader.MAIN_SHARE", 0.0)],
    "header not on its own": [(HEADER, partial(LexicalTerms, header_weight=0.0))],
}
"""Each kept step taken out."""
TRIED: dict[str, list[Change]] = {
    "… and reciprocal rank fusion": [*NO_RERANKING, (FUSE, by_rank)],
    "… and .8/.2 of score ranges": [*NO_RERANKING, (FUSE, by_range)],
    "reranked, reciprocal rank fusion": [(FUSE, by_rank)],
    "words by rarity alone as query vector": [(VECTOR, by_rarity_only)],
    "vector weight × 0.5": [("engine.ranking.fusion.VECTOR_WEIGHT", 0.03)],
    "vector weight × 2": [("engine.ranking.fusion.VECTOR_WEIGHT", 0.12)],
    "phrases in statements too": reweighed(statement={"phrase": 0.4}),
    "nearness in questions too": reweighed(question={"nearness": 0.5}),
    "window of 8 words": [("engine.ranking.features.WINDOW", 8)],
    "mention weight 1": reweighed(question={"mention": 1.0}, statement={"mention": 1.0}),
    "60 candidates read": [("engine.ranking.rerank.RERANKED", 60), (f"{RETRIEVER}.RERANKED", 60)],
    "function words left out": [("engine.ranking.terms.STOP_WEIGHT", 1e-6)],
    "header weight 1": [(HEADER, partial(LexicalTerms, header_weight=1.0))],
}
"""What was tried instead, and did not help."""
VARIANTS = {**KEPT, **TRIED}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--limit", type=int, default=600, help="questions a collection, 0 for all")
    parser.add_argument("--only", action="append", choices=list(VARIANTS), help="variants; default all")
    options = parser.parse_args(arguments)
    measured: dict[str, dict[str, Scores]] = {name: {} for name in options.only or VARIANTS}
    for collection in present_collections(SCHEMAS, data_folder(options.data)):
        _measure(collection, options.limit, measured)
    if not any(measured.values()):
        return 1
    header = ["changed", *_columns(next(iter(measured.values()))), "mean A", "mean B"]
    for title, variants in (("Kept steps, each taken out", KEPT), ("Tried and left out", TRIED)):
        rows = [_row(name, scores) for name, scores in measured.items() if name in variants]
        print(f"\n### {title}\n\n{table(header, rows)}" if rows else "")
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
