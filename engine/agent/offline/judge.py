"""Whether the evidence answers, without a model: more of the question than one of another subject reaches by chance.

Every figure is a reduction of the table of evidence. Shares say how much of the question stands together; **nats** say
how unlikely that is by chance: the sum of the rarities of the terms that one passage holds, less ln N, which the best
of N documents reaches with the words of any question. Nats mean the same in every collection, language and script,
which is why one set of weights serves languages that it was not fitted to. Between English texts the cosine of the
nearest passage counts too; word vectors of other languages say nothing of the subject.

The weights come from a fit of the form of ``python -m benchmarks.evidence_fit``; docs/agent.md says what is by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import log1p

import msgspec
import numpy as np

from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import Table, begins_alike
from engine.agent.steps import Evidence, Judgement, Plan, PlannedQuery
from engine.agent.workers import InThread
from engine.analysis.analyzer import query_terms
from engine.analysis.detection import detect_language
from engine.analysis.language import DEFAULT_LANGUAGE
from engine.embedding.protocol import Embedder
from engine.question.kinds import counted, shows, stands_by_number, wanted
from engine.question.names import names_in
from engine.question.terms import light_terms
from engine.question.turn import Question

ANSWERABLE = 0.0
"""Log-odds from which the evidence is taken to answer."""
COVERED = 0.25
"""Share of a name or a sub-question that the best passage must hold for it to count as covered."""
NEAR = 6
"""Sentences that hold equally much of the question, in and beside which the answer is looked for."""
SIMILAR_OF = 8
"""Passages, best first, whose similarity is looked at."""
USUAL_COSINE = 0.57
"""Where a cosine speaks neither for an answer nor against it; languages without cosines stand there."""
UNCOUNTED = 0.33
"""What it says against an answer that no number stands beside what is counted, where 1 is a price without money: counts
are often told in other words."""
COMPARABLE = "wordllama-256-whitened"
"""The embedder to whose cosines the weights belong."""


class Values(msgspec.Struct, frozen=True):
    """What the decision is made of, larger for a likelier answer where not said otherwise.

    Attributes:
        nats: rarities of what the best passage holds, summed, less the logarithm of the number of documents.
        names: share of the names and figures that stand anywhere in the passages.
        lacks: 1 where a price, `UNCOUNTED` where a number beside what is counted, is asked for and is in none of the
            sentences that hold most, nor beside them; 0 elsewhere. Larger for a less likely answer.
        around: share of the terms' weight in such a sentence with its header, its neighbours and its document's
            attributes.
        similarity: cosine of the question and its nearest English passage, less `USUAL_COSINE`.
    """

    nats: float
    names: float
    lacks: float
    around: float
    similarity: float


class Weights(Values, frozen=True):
    """Of a logistic model: log-odds for each value, and in the beginning."""

    bias: float


WEIGHTS = Weights(nats=0.08, names=2.13, lacks=-6.71, around=7.61, similarity=6.08, bias=-5.41)


class OfflineJudge:
    """One round is all that rules can use.

    Args:
        embedder: the namespace's; None judges by words alone.
    """

    def __init__(self, embedder: Embedder | None = None, run: InThread = asyncio.to_thread) -> None:
        self._run = run
        self._embedder = embedder if embedder is not None and embedder.name == COMPARABLE else None
        self.likeness = Likeness(self._embedder) if self._embedder is not None else None

    async def judge(
        self, question: Question, plan: Plan, evidence: Sequence[Evidence], executed: Sequence[PlannedQuery]
    ) -> Judgement:
        return await self._run(self.judged, question, plan, evidence)

    def judged(self, question: Question, plan: Plan, evidence: Sequence[Evidence]) -> Judgement:
        """As `judge`; it never asks for more queries, since rules would look for nothing that the plan did not."""
        table = self.table(question, evidence)
        if self.margin(question, table, plan.together) < ANSWERABLE:
            return Judgement(sufficient=True, answerable=False)
        missing = (*_absent(question, table), *_uncovered(question, plan, table))
        return Judgement(sufficient=not missing, missing=missing)

    def table(self, question: Question, evidence: Sequence[Evidence]) -> Table:
        """What the passages hold of the question, best passages first."""
        read = [e.passage for e in sorted(evidence, key=lambda e: -e.passage.score)]
        return Table(question.terms, [p.passage for p in read], [p.attributes for p in read], self.likeness)

    def margin(self, question: Question, table: Table, together: Sequence[Sequence[str]] = ()) -> float:
        """Log-odds that the evidence answers; minus infinity where no text holds a word, or one lacks an identifier."""
        found = table.wholes.max(axis=0, initial=0.0)
        if (
            not len(table.of)
            or not table.asked.terms
            # An attribute may answer for a text that is about the question, not for any text.
            or not table.sentences.any()
            or any(term.is_whole and held < 1 for term, held in zip(table.asked.terms, found, strict=True))
        ):
            return float("-inf")
        return log_odds(self.values(question, table, together))

    def values(self, question: Question, table: Table, together: Sequence[Sequence[str]] = ()) -> Values:
        """What the decision is made of; the table has a sentence.

        Args:
            together: documents that count as one passage, and their best sentences as one sentence.
        """
        attributes = [" ".join(map(str, one.values())) for one in table.told] or [""] * len(table.passages)
        asked, total = table.asked, max(table.asked.total, 1e-9)
        named = np.asarray([term.is_named for term in asked.terms])
        found = table.wholes.max(axis=0) * table.weights
        near = self._near(table, frozenset(document for documents in together for document in documents))
        held = np.stack([np.maximum(table.sentences[rows].max(axis=0), table.attributes[p]) for p, rows in near])
        told = [" ".join((*map(table.sentence, range(rows.start, rows.stop)), attributes[p])) for p, rows in near]
        joined = [table.joined(documents) for documents in together]
        # The best of N documents to join with reaches ln N by chance.
        chance = log1p(question.documents)
        joined = [
            rows * np.maximum(1.0 - chance / np.maximum(rows @ table.nats, 1e-9), 0.0)[:, None] for rows in joined
        ]
        wholes = np.concatenate([table.wholes, *(rows[:1] for rows in joined)])
        read = np.concatenate([held, *(rows[1:] for rows in joined)])
        return Values(
            nats=float((wholes @ table.nats).max()) - chance,
            names=float(found[named].sum() / table.weights[named].sum()) if named.any() else 1.0,
            lacks=min(self._lacks(question, table, text) for text in told),
            around=float((read @ table.weights).max()) / total,
            similarity=self._similarity(question, table),
        )

    @staticmethod
    def _near(table: Table, together: frozenset[str]) -> list[tuple[int, slice]]:
        """The sentences that hold most of the question, each with its neighbours: passage and rows.

        Args:
            together: documents whose best sentence is one of them.
        """
        scores = table.sentences @ table.weights
        best = np.flatnonzero(scores >= scores.max())[:NEAR].tolist()
        for number, passage in enumerate(table.passages):
            rows = table.rows(number)
            if passage.document_id in together and rows.start < rows.stop:
                best.append(rows.start + int(scores[rows].argmax()))
        found: list[tuple[int, slice]] = []
        for row in best:
            span = table.rows(int(table.of[row]))
            found.append((int(table.of[row]), slice(max(span.start, row - 1), min(span.stop, row + 2))))
        return found

    @staticmethod
    def _lacks(question: Question, table: Table, text: str) -> float:
        """See `Values.lacks`; of one text."""
        asked = table.asked
        if wanted(question.text, asked.code) == "money":
            return float(shows("money", text, asked.code) < 0)
        word = counted(question.text, asked.code)
        own = frozenset(query_terms(word, asked.languages)) if word is not None else frozenset[str]()
        if word is None or own & light_terms(asked.code):
            return 0.0  # "how long did it last" counts nothing

        def is_form(held: str) -> bool:
            terms = query_terms(held, asked.languages)
            return any(a in own or (len(a) > 3 and any(begins_alike(a, b) for b in own)) for a in terms)

        return 0.0 if stands_by_number(word, is_form, text, asked.code) else UNCOUNTED

    def _similarity(self, question: Question, table: Table) -> float:
        if self._embedder is None or table.asked.code != DEFAULT_LANGUAGE:
            return 0.0
        near = [p for p in table.passages[:SIMILAR_OF] if detect_language(p.text) == DEFAULT_LANGUAGE]
        if not near:
            return 0.0
        query = self._embedder.embed_queries([question.text])[0]
        held = self._embedder.embed_passages([f"{p.header}\n{p.text}" for p in near])
        return float((held @ query).max()) - USUAL_COSINE


def log_odds(values: Values, weights: Weights = WEIGHTS) -> float:
    """That passages with these values answer."""
    return weights.bias + sum(getattr(weights, name) * getattr(values, name) for name in Values.__struct_fields__)


def _absent(question: Question, table: Table) -> list[str]:
    """Names of the question of which no passage holds much."""
    missing: list[str] = []
    found = table.wholes.max(axis=0) * table.weights
    for name in names_in(question.text, code=question.terms.code):
        named = frozenset(query_terms(name, table.asked.languages))
        own = [number for number, term in enumerate(table.asked.terms) if term.forms & named]
        weight = float(table.weights[own].sum())
        if any(c.isalpha() for c in name) and weight > 0 and float(found[own].sum()) < COVERED * weight:
            missing.append(name)
    return missing[:3]


def _uncovered(question: Question, plan: Plan, table: Table) -> list[str]:
    """Sub-questions of which no passage covers much, where there are several."""
    if len(plan.sub_questions) < 2:
        return []
    missing: list[str] = []
    for part in plan.sub_questions:
        terms = question.terms_of(part.text)
        held = Table(terms, table.passages)
        best = float((held.wholes @ held.weights).max(initial=0.0))
        if terms.total > 0 and best < COVERED * terms.total:
            missing.append(part.text)
    return missing[:2]
