"""Fits the weights of `engine/ranking/weights.py`: the features of the reranker against what answers a question.

    python -m benchmarks.fit_rerank                   about 5 minutes on two cores
    python -m benchmarks.fit_rerank --limit 300       an even sample of the questions

Coordinate ascent on nDCG@10 itself (Metzler & Croft 2007, "Linear feature-based models for information retrieval"), on
half A of the questions of all collections, a loss counting `LOSS` times a gain; the weights are means over resamples of
the questions, which keeps a feature that helps a few of them small. The change is shown on half B as well, and for each
collection with weights that were fitted without it. A document counts by its best passage; in MultiHop-RAG each passage
that holds a gold sentence counts. The starting point is `START`, the weights before there were two sets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import fmean
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import engine
from benchmarks.data import SCHEMAS, Collection, Question, data_folder, present_collections, without_space
from benchmarks.quality import half_of, sample
from benchmarks.report import table
from engine.backend.protocol import Backend
from engine.model.document import Passage
from engine.model.hits import Candidates, Labels
from engine.ranking.asking import asks
from engine.ranking.passage_terms import PassageTerms
from engine.ranking.rerank import RERANKED, TermReranker
from engine.ranking.weights import QUESTION, STATEMENT, FeatureWeights

Floats = npt.NDArray[np.float32]
FEATURES = [field.name for field in fields(FeatureWeights)]
START = FeatureWeights(coverage=0.5, window=0.5, document=0.3, mention=0.5)
LOSS = 3.0
"""What a collection's loss weighs against another's gain: a mechanism that helps one must not cost another."""
SHRINK = 0.03
"""Pull towards the start, of a weight times its feature's deviation, squared."""
STEP = 0.04
ROUNDS = 4
RESAMPLES = 8
DEPTH = 10
_DISCOUNTS = 1 / np.log2(np.arange(2, DEPTH + 2))
_NOWHERE = np.float32(-1e6)


@dataclass(frozen=True)
class Pool:
    """Candidates of ``n`` questions, `RERANKED` columns each, with what their order is worth.

    Attributes:
        fused: ``(n, RERANKED)``; columns without a candidate hold `_NOWHERE`.
        columns: ``(n, RERANKED, features)``.
        units: ``(n, RERANKED)``: the number, within the question, of what a candidate is counted as.
        grades: ``(n, RERANKED)``, by unit.
        ideal: ``(n,)``: the best discounted gain.
    """

    fused: Floats
    columns: Floats
    units: npt.NDArray[np.int64]
    grades: Floats
    ideal: Floats

    def of(self, rows: npt.NDArray[np.int64]) -> Pool:
        return Pool(self.fused[rows], self.columns[rows], self.units[rows], self.grades[rows], self.ideal[rows])

    def ndcg(self, scores: Floats) -> Floats:
        best = np.full(scores.shape, 2 * _NOWHERE, np.float32)
        np.maximum.at(best, (np.arange(len(scores))[:, None], self.units), scores)
        first = np.argpartition(-best, DEPTH, axis=1)[:, :DEPTH]
        order = np.argsort(-np.take_along_axis(best, first, 1), axis=1, kind="stable")
        gains = np.take_along_axis(self.grades, np.take_along_axis(first, order, 1), 1)
        return (gains @ _DISCOUNTS / self.ideal).astype(np.float32)

    def scores(self, weights: Floats) -> Floats:
        return self.fused + self.columns @ weights


class Recorder(TermReranker):
    """Reranks as ever and keeps the features."""

    kept: ClassVar[list[tuple[Candidates, Sequence[Passage], Mapping[str, Floats]]]] = []

    def rerank(self, query: str, candidates: Candidates, passages: PassageTerms) -> Candidates:
        weights = replace(QUESTION if asks(query) else STATEMENT, nearness=1e-9)
        self.kept.append((candidates, passages.passages, self.columns(candidates, passages, weights)))
        return super().rerank(query, candidates, passages)


def terms_with_texts(backend: Backend, namespace: int, labels: Labels) -> PassageTerms:
    """The terms of passages beside the passages, which a forward index does not read."""
    return PassageTerms.of(backend.hydrate(namespace, labels))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--limit", type=int, default=800, help="questions a collection")
    options = parser.parse_args(arguments)
    pools: dict[str, tuple[Pool, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]] = {}
    for collection in present_collections(SCHEMAS, data_folder(options.data)):
        questions = sample([q for q in collection.questions() if not q.is_null], options.limit)
        pools[collection.name] = (
            _recorded(collection, questions),
            np.array([half_of(q.id) == 0 for q in questions]),
            np.array([asks(q.text) for q in questions]),
        )
    if not pools:
        return 1
    for kind, shipped, asking in (("questions", QUESTION, True), ("statements", STATEMENT, False)):
        held = {name: (pool, in_a, asked == asking) for name, (pool, in_a, asked) in pools.items()}
        halves = [
            {n: pool.of(np.flatnonzero((in_a == a) & use)) for n, (pool, in_a, use) in held.items() if use.sum() > 20}
            for a in (True, False)
        ]
        _report(kind, shipped, halves[0], halves[1])
    return 0


def _report(kind: str, shipped: FeatureWeights, a: Mapping[str, Pool], b: Mapping[str, Pool]) -> None:
    fitted = fit(a)
    left_out = {n: fit({m: p for m, p in a.items() if m != n}) if len(a) > 1 else as_array(START) for n in a}
    rows = [
        [name, *(f"{fmean(half[name].ndcg(half[name].scores(as_array(START))).tolist()):.4f}" for half in (a, b))]
        + [_change(half[name], weights) for weights in (fitted, left_out[name], as_array(shipped)) for half in (a, b)]
        for name in a
    ]
    columns = ("fitted A", "fitted B", "left out A", "left out B", "shipped A", "shipped B")
    print(f"\n### {kind}\n\n{table(['collection', 'start A', 'start B', *columns], rows)}\n")
    print(table(["feature", "fitted", "shipped"], _compared(fitted, shipped)), flush=True)


def _compared(fitted: Floats, shipped: FeatureWeights) -> list[list[str]]:
    return [[name, f"{value:.2f}", f"{getattr(shipped, name):g}"] for name, value in zip(FEATURES, fitted, strict=True)]


def _change(pool: Pool, weights: Floats) -> str:
    change = pool.ndcg(pool.scores(weights)) - pool.ndcg(pool.scores(as_array(START)))
    return f"{fmean(change.tolist()):+.4f}"


def as_array(weights: FeatureWeights) -> Floats:
    return np.array([asdict(weights)[name] for name in FEATURES], np.float32)


def fit(pools: Mapping[str, Pool]) -> Floats:
    """Mean of the weights that coordinate ascent finds on resamples of the questions."""
    rng = np.random.default_rng(0)
    found: list[Floats] = []
    for _ in range(RESAMPLES):
        drawn = {n: pool.of(rng.integers(len(pool.fused), size=len(pool.fused))) for n, pool in pools.items()}
        found.append(_ascended(drawn))
    return np.mean(found, axis=0).astype(np.float32)


def _ascended(pools: Mapping[str, Pool]) -> Floats:
    start = as_array(START)
    spread = np.mean([pool.columns.std(axis=1).mean(axis=0) for pool in pools.values()], axis=0) + 1e-6
    before = {name: float(pool.ndcg(pool.scores(start)).mean()) for name, pool in pools.items()}

    def value(weights: Floats, scores: Mapping[str, Floats]) -> float:
        gains = [float(pool.ndcg(scores[name]).mean()) - before[name] for name, pool in pools.items()]
        pull = SHRINK * float((((weights - start) * spread) ** 2).sum())
        return fmean(gain if gain > 0 else LOSS * gain for gain in gains) - pull

    weights = start.copy()
    scores = {name: pool.scores(weights) for name, pool in pools.items()}
    best = value(weights, scores)
    steps = STEP / spread
    for _ in range(ROUNDS):
        for at in range(len(FEATURES)):
            tries = [max(0.0, float(weights[at] + factor * steps[at])) for factor in (1, -1, 2, -2, 0.4, -0.4)]
            improved = False
            base, old = scores, float(weights[at])
            for tried in tries:
                moved = weights.copy()
                moved[at] = tried
                shifted = {n: base[n] + np.float32(tried - old) * pool.columns[:, :, at] for n, pool in pools.items()}
                worth = value(moved, shifted)
                if worth > best + 1e-6:
                    best, weights, scores, improved = worth, moved, shifted, True
            if not improved:
                steps[at] /= 2
    return weights


def _recorded(collection: Collection, questions: Sequence[Question]) -> Pool:
    with tempfile.TemporaryDirectory() as folder, engine.open(folder, agent="offline") as quarry:
        quarry.upsert("bench", collection.documents(), schema=SCHEMAS[collection.name])
        rows: list[tuple[Floats, Floats, list[int], list[float], float]] = []
        backend = "engine.backend.embedded.backend.EmbeddedBackend.passage_terms"
        with patch("engine.retrieval.retriever.TermReranker", Recorder), patch(backend, terms_with_texts):
            for question in questions:
                Recorder.kept.clear()
                quarry.retrieve("bench", question.text, k=1, mode="hybrid")
                rows.append(_row(question, *Recorder.kept[-1]) if Recorder.kept else _nothing())
    fused, columns, units, grades, ideal = zip(*rows, strict=True)
    return Pool(
        np.stack(fused),
        np.stack(columns),
        np.array(units, np.int64),
        np.array(grades, np.float32),
        np.array(ideal, np.float32),
    )


def _nothing() -> tuple[Floats, Floats, list[int], list[float], float]:
    nothing = np.full(RERANKED, _NOWHERE, np.float32), np.zeros((RERANKED, len(FEATURES)), np.float32)
    return *nothing, list(range(RERANKED)), [0.0] * RERANKED, 1.0


def _row(
    question: Question, candidates: Candidates, passages: Sequence[Passage], found: Mapping[str, Floats]
) -> tuple[Floats, Floats, list[int], list[float], float]:
    fused, columns, units, grades, _ = _nothing()
    first = len(passages)
    fused[:first] = candidates.scores[:first]
    for at, name in enumerate(FEATURES):
        if name in found:
            columns[:first, at] = found[name]
    if question.facts:
        texts = [without_space(passage.text) for passage in passages]
        grades[:first] = [float(any(fact in text for fact in question.facts)) for text in texts]
        gains = [1.0] * len(question.facts)
    else:
        documents = list(dict.fromkeys(passage.document_id for passage in passages))
        units[:first] = [documents.index(passage.document_id) for passage in passages]
        grades[: len(documents)] = [float(question.relevant.get(document, 0)) for document in documents]
        units[first:] = [RERANKED - 1] * (RERANKED - first)
        gains = sorted(map(float, question.relevant.values()), reverse=True)[:DEPTH]
    return fused, columns, units, grades, float(np.array(gains) @ _DISCOUNTS[: len(gains)])


if __name__ == "__main__":
    sys.exit(main())
