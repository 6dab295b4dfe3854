"""The passages that a turn has brought up so far: rankings of several queries merged into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.agent.steps import PlannedQuery
from engine.model.document import Passage
from engine.retrieval.query import Ranked


@dataclass(slots=True)
class Gathered:
    """One passage and why it is here.

    Attributes:
        score: sum of `masses`; selection puts the score it chose by in its place.
        queries: numbers of the queries that brought it up.
        masses: what each of them gives it, in the order of `queries`: its weight times the normalised score.
    """

    passage: Passage
    score: float = 0.0
    queries: tuple[int, ...] = ()
    masses: tuple[float, ...] = ()


@dataclass(slots=True)
class Gathering:
    """Merges rankings: a narrowed query adds to what the unnarrowed one found and never replaces it.

    Scores of each ranking are divided by its best, so that queries of different lengths mix; the weight says how much
    the plan trusts a query. The sum over queries is CombSUM (Fox & Shaw 1994).
    """

    passages: dict[int, Gathered] = field(default_factory=dict[int, Gathered])
    executed: list[PlannedQuery] = field(default_factory=list[PlannedQuery])
    scanned: set[str] = field(default_factory=set[str])

    def add(self, query: PlannedQuery, ranked: Ranked) -> None:
        """Merge one ranking."""
        number = len(self.executed)
        self.executed.append(query)
        self.scanned |= ranked.scanned
        best = float(ranked.scores[0]) if len(ranked.scores) else 0.0
        for passage, score in zip(ranked.passages, ranked.scores.tolist(), strict=True):
            mass = query.weight * (max(0.0, score) / best if best > 0 else 0.0)
            held = self.passages.setdefault(passage.label, Gathered(passage))
            held.score += mass
            held.queries = (*held.queries, number)
            held.masses = (*held.masses, mass)

    def ranking(self) -> list[Gathered]:
        """Best first; ties to the smaller label."""
        return sorted(self.passages.values(), key=lambda g: (-g.score, g.passage.label))

    def has_run(self, query: PlannedQuery) -> bool:
        """Whether this text was already looked for under this narrowing."""
        return any(same_query(query, done) for done in self.executed)


def same_query(a: PlannedQuery, b: PlannedQuery) -> bool:
    """Whether two queries ask the same of the index: text folded, narrowing equal."""
    return fold(a.text) == fold(b.text) and dict(a.narrowing or {}) == dict(b.narrowing or {}) and a.mode == b.mode


def fold(text: str) -> str:
    """Case and white space removed, for comparing questions."""
    return " ".join(text.casefold().split())


def distinct(queries: Sequence[PlannedQuery]) -> list[PlannedQuery]:
    """Without repetitions, in order."""
    kept: list[PlannedQuery] = []
    for query in queries:
        if query.text.strip() and not any(same_query(query, other) for other in kept):
            kept.append(query)
    return kept
