"""Scores of a ranking, one question at a time.

Document metrics are those of trec_eval, by ir_measures: nDCG@10, Recall@10, RR@10 over the documents of the ranked
passages, each at the rank of its best passage. Passage metrics are those of MultiHop-RAG (Tang & Yang 2024), with its
own definition of MAP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, R, nDCG

from benchmarks.data import Question, without_space

DOCUMENT_METRICS = {"nDCG@10": nDCG @ 10, "Recall@10": R @ 10, "MRR@10": RR @ 10}
PASSAGE_METRICS = ("Hits@10", "Hits@4", "MAP@10", "MRR@10", "Facts@10", "AllFacts@10")

Scores = dict[str, dict[str, float]]
"""Question id → metric → score in [0, 1]."""


def document_scores(questions: Sequence[Question], rankings: Mapping[str, Sequence[str]]) -> Scores:
    """Scores of `rankings`: question id → document ids of the ranked passages, best first, repeats allowed."""
    qrels = {question.id: dict(question.relevant) for question in questions}
    runs: dict[str, dict[str, float]] = {}
    for question in questions:
        documents = list(dict.fromkeys(rankings[question.id]))
        # Ranks instead of scores, so that the order of ties is the one that the engine gave.
        runs[question.id] = {document: float(-rank) for rank, document in enumerate(documents)}
    names = {str(measure): name for name, measure in DOCUMENT_METRICS.items()}
    scores: Scores = {question.id: dict.fromkeys(DOCUMENT_METRICS, 0.0) for question in questions}
    for found in ir_measures.iter_calc(list(DOCUMENT_METRICS.values()), qrels, runs):
        scores[found.query_id][names[str(found.measure)]] = float(found.value)
    return scores


def passage_scores(question: Question, passages: Sequence[str]) -> dict[str, float]:
    """Scores of passage texts, best first. A passage hits when, white space removed, it holds a whole gold sentence.

    ``MAP@10``: each gold sentence counts 1/r at the rank r where it first appears, divided by the number of gold
    sentences; that is the collection's own script, not trec_eval's average precision.

    >>> question = Question("q", "?", {}, ("ab", "cd"), False)
    >>> passage_scores(question, ["x", "a b"])
    {'Hits@10': 1.0, 'Hits@4': 1.0, 'MAP@10': 0.25, 'MRR@10': 0.5, 'Facts@10': 0.5, 'AllFacts@10': 0.0}
    """
    texts = [without_space(text) for text in passages[:10]]
    ranks = [next((rank for rank, text in enumerate(texts, 1) if fact in text), None) for fact in question.facts]
    found = sorted(rank for rank in ranks if rank is not None)
    return {
        "Hits@10": float(bool(found)),
        "Hits@4": float(bool(found) and found[0] <= 4),
        "MAP@10": sum(1 / rank for rank in found) / len(ranks),
        "MRR@10": 1 / found[0] if found else 0.0,
        "Facts@10": len(found) / len(ranks),
        "AllFacts@10": float(len(found) == len(ranks)),
    }
