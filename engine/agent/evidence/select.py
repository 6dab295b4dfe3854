"""Which gathered passages are read: relevant ones that together cover the plan, not ten times the same paragraph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from engine.agent.evidence.coverage import Coverage
from engine.agent.gathering import Gathered, Gathering
from engine.agent.steps import Plan
from engine.question.turn import Question

POOL, POOL_UNNARROWED = 60, 24
"""Passages whose sentences are looked at, where a query narrows and where none does. The others keep the order of the
merged ranking."""
EVIDENCE = 0.8
"""How far the best sentence of a passage decides over its place in the rankings, in [0, 1], where a query narrows."""
EVIDENCE_UNNARROWED = 0.2
"""The same where none does: the ranking of an unnarrowed query has weighed coverage by itself."""
REPEATED_QUERY = 0.5
"""Factor on what a query gives, for each best hit of its that is already chosen."""


def select(
    gathering: Gathering, plan: Plan, k: int, *, question: Question, already: Collection[int] = ()
) -> list[Gathered]:
    """The `k` passages to read next, in the order of choice, each with the score that it was chosen by.

    Greedy maximisation of relevance with diminishing returns for each query, and so for each sub-question and each
    named source: the approximation of Nemhauser, Wolsey & Fisher (1978) for monotone submodular functions, as Lin &
    Bilmes (2011) use it for summaries. Relevance is what the queries give a passage times how well its best sentence
    covers a sub-question, which is what makes a wrong narrowing cost little.

    Args:
        already: labels read before; they count as chosen and are not returned.
    """
    ranking = gathering.ranking()
    read = [g for g in ranking if g.passage.label in already]
    rest = [g for g in ranking if g.passage.label not in already]
    is_narrowed = any(query.narrowing for query in plan.queries)
    size = POOL if is_narrowed else POOL_UNNARROWED
    pool, tail = rest[:size], rest[size:]
    factors = _evidence(pool, plan, question, EVIDENCE if is_narrowed else EVIDENCE_UNNARROWED)
    covered = [0.0] * len(gathering.executed)

    def choose(g: Gathered) -> None:
        for query, mass in zip(g.queries, g.masses, strict=True):
            covered[query] += mass / gathering.executed[query].weight

    for g in read:
        choose(g)
    chosen: list[Gathered] = []
    while pool and len(chosen) < k:
        left = [REPEATED_QUERY**amount for amount in covered]
        gains = [
            factor * sum(mass * left[query] for query, mass in zip(g.queries, g.masses, strict=True))
            for g, factor in zip(pool, factors, strict=True)
        ]
        best = max(range(len(pool)), key=lambda n: (gains[n], -pool[n].passage.label))
        taken = pool.pop(best)
        factors.pop(best)
        choose(taken)
        chosen.append(replace(taken, score=gains[best]))
    last = min((g.score for g in chosen), default=0.0)
    top = tail[0].score if tail else 0.0
    chosen += [replace(g, score=last * g.score / top if top > 0 else 0.0) for g in tail[: k - len(chosen)]]
    return chosen


def _evidence(pool: Sequence[Gathered], plan: Plan, question: Question, share: float) -> list[float]:
    """What each passage's relevance is multiplied by, at most 1."""
    covered = Coverage(question, plan, [g.passage for g in pool])
    coverage = [covered.best(number) for number in range(len(pool))]
    best = max(coverage, default=0.0)
    if best <= 0:
        return [1.0] * len(pool)
    return [1.0 - share + share * held / best for held in coverage]
