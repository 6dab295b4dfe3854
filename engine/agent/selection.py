"""Which gathered passages are read: relevant ones that together cover the plan, not ten times the same paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from engine.agent.gathering import Gathered, Gathering
from engine.agent.steps import Plan

COVERAGE = 0.25
"""What the first passage of a sub-question gains, as a share of the best score."""
REPETITION = 0.9
"""Factor on a passage for each one already chosen from its document."""


def select(gathering: Gathering, plan: Plan, k: int, *, already: Collection[int] = ()) -> list[Gathered]:
    """The `k` passages to read next, in the order of choice.

    Greedy maximisation of relevance with diminishing returns for what is covered, the approximation of Nemhauser,
    Wolsey & Fisher (1978) for monotone submodular functions, as Lin & Bilmes (2011) use it for summaries.

    Args:
        already: labels read before; they count as chosen and are not returned.
    """
    pool = gathering.ranking()
    best = pool[0].score if pool else 0.0
    chosen: list[Gathered] = []
    documents: Counter[str] = Counter(g.passage.document_id for g in pool if g.passage.label in already)
    covered: set[int] = set()
    rest = [g for g in pool if g.passage.label not in already]
    while rest and len(chosen) < k:

        def gain(g: Gathered) -> float:
            parts = {gathering.executed[n].sub_question for n in g.queries if n < len(gathering.executed)} - {-1}
            return g.score * REPETITION ** documents[g.passage.document_id] + COVERAGE * best * len(
                {p for p in parts - covered if p < len(plan.sub_questions)}
            )

        taken = max(rest, key=lambda g: (gain(g), -g.passage.label))
        rest.remove(taken)
        chosen.append(taken)
        documents[taken.passage.document_id] += 1
        covered |= {gathering.executed[n].sub_question for n in taken.queries if n < len(gathering.executed)}
    return chosen
