"""Whether the evidence answers, without a model: how much of the question's content it covers.

The decision is a logistic model of what the best passages hold of the question (`Coverage`): rare terms and names weigh
most, and a long question is never covered as fully as a short one, so its length counts in its favour. For the
default embedder the similarity of the best passage counts too, and words of like meaning, which find paraphrases; other
embedders have cosines of another scale, and the model without them serves those. Few documents leave little to choose
from: a passage that fits among three of them is less likely to fit by chance than one among thousands.

The weights are of a fit as ``benchmarks/judge_fit.py`` makes it, on half of the questions of four public collections,
put to the collection, to small parts of it with and without the document that answers, and to the wrong collection;
`benchmarks.answers` prints how they do on the other half, and the curve of refusals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from math import log1p

import msgspec

from engine.agent.offline.coverage import Coverage, coverage_of, terms_in, weights_of
from engine.agent.offline.dates import dates_in
from engine.agent.offline.followup import asked
from engine.agent.offline.likeness import Likeness
from engine.agent.steps import Evidence, Judgement, Plan, PlannedQuery, Question, ReadingPassage
from engine.agent.workers import InThread
from engine.embedding.protocol import Embedder

ANSWERABLE = 0.0
"""Log-odds from which the evidence is taken to answer."""
COVERED = 0.25
"""Share of a sub-question's content that the best passage must hold for it to count as covered."""
SIMILAR_OF = 8
"""Passages, best first, whose similarity is looked at."""
_ANY_DAY = date(2000, 1, 1)
"""Only whether a name is a date matters here, not which day it means."""


class Values(msgspec.Struct, frozen=True):
    """What the decision is made of, larger for a likelier answer.

    Attributes:
        passage, sentence, names, kind: see `Coverage`.
        length: logarithm of the number of terms and one.
        similarity: cosine of the question and its nearest passage; 0.0 where it is not looked at.
        few: inverse of the number of documents and one; 0.0 where it is not known.
    """

    passage: float
    sentence: float
    names: float
    length: float
    similarity: float
    kind: float
    few: float


class Weights(Values, frozen=True):
    """Of a logistic model: log-odds for each value, and in the beginning."""

    bias: float


LEXICAL = Weights(passage=8.11, sentence=8.42, names=2.55, length=2.0, similarity=0.0, kind=0.69, few=5.0, bias=-13.38)
CALIBRATED = {
    "wordllama-256-whitened": Weights(
        passage=5.82, sentence=5.39, names=2.82, length=1.02, similarity=10.52, kind=0.58, few=5.0, bias=-13.70
    )
}
"""By the name of the embedder."""


class OfflineJudge:
    """One round is all that rules can use.

    Args:
        embedder: the namespace's; None judges by words alone.
    """

    def __init__(self, embedder: Embedder | None = None, run: InThread = asyncio.to_thread) -> None:
        self._run = run
        self._weights = CALIBRATED.get(embedder.name, LEXICAL) if embedder is not None else LEXICAL
        self._embedder = embedder if self._weights.similarity else None
        self._likeness = Likeness(self._embedder) if self._embedder is not None else None

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        return await self._run(self.judged, question, plan, evidence)

    def judged(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> Judgement:
        """As `judge`; it never asks for more queries, since rules would look for nothing that the plan did not."""
        coverage, margin = self.margin(question, evidence)
        if margin < ANSWERABLE:
            return Judgement(sufficient=True, answerable=False)
        missing = (*_absent(coverage), *_uncovered(question, plan, evidence))
        return Judgement(sufficient=not missing, missing=missing)

    def margin(self, question: Question, evidence: Sequence[Evidence]) -> tuple[Coverage, float]:
        """Coverage of the question, and the log-odds that the evidence answers; larger is surer."""
        coverage, values = self.values(question, evidence)
        return coverage, log_odds(values, self._weights)

    def values(self, question: Question, evidence: Sequence[Evidence]) -> tuple[Coverage, Values]:
        """Coverage of the question, and what the decision is made of."""
        text = asked(question)
        passages = [e.passage for e in sorted(evidence, key=lambda e: -e.passage.score)]
        coverage = coverage_of(text, passages, question.rarity, documents=question.documents, likeness=self._likeness)
        return coverage, values_of(coverage, self._similarity(text, passages[:SIMILAR_OF]), question.documents)

    def _similarity(self, text: str, passages: Sequence[ReadingPassage]) -> float:
        """Cosine of the question and its nearest passage, in [-1, 1]; 0.0 where it is not looked at."""
        if self._embedder is None or not passages:
            return 0.0
        query = self._embedder.embed_queries([text])[0]
        rows = self._embedder.embed_passages([f"{p.passage.header}\n{p.passage.text}" for p in passages])
        return float((rows @ query).max())


def values_of(coverage: Coverage, similarity: float = 0.0, documents: int = 0) -> Values:
    """What is decided by, of one question.

    Args:
        documents: that were searched; 0 where that is not known.
    """
    return Values(
        passage=coverage.passage,
        sentence=coverage.sentence,
        names=coverage.names,
        length=log1p(coverage.terms),
        similarity=similarity,
        kind=float(coverage.kind),
        few=1 / (1 + documents) if documents else 0.0,
    )


def log_odds(values: Values, weights: Weights = LEXICAL) -> float:
    """That passages with these values answer."""
    return weights.bias + sum(getattr(weights, name) * getattr(values, name) for name in Values.__struct_fields__)


def _absent(coverage: Coverage) -> list[str]:
    return [name for name in coverage.absent if any(c.isalpha() for c in name) and not dates_in(name, _ANY_DAY)][:3]


def _uncovered(question: Question, plan: Plan, evidence: Sequence[Evidence]) -> list[str]:
    """Sub-questions of which no passage covers much, where there are several."""
    if len(plan.sub_questions) < 2:
        return []
    held = [terms_in(f"{e.passage.passage.header} {e.passage.passage.text}") for e in evidence]
    found: list[str] = []
    for part in plan.sub_questions:
        weights = weights_of(part.text, question.rarity, held)
        total = sum(weights.values())
        best = max((sum(w for t, w in weights.items() if t in terms) for terms in held), default=0.0)
        if total > 0 and best < COVERED * total:
            found.append(part.text)
    return found[:2]
