"""Retrieval by the offline plan: its queries, merged and selected for coverage, as a search reads them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.agent.gathering import Gathering, distinct
from engine.agent.loop import QUERY_K
from engine.agent.ports import Retrieval
from engine.agent.selection import select
from engine.agent.steps import Corpus, Plan, Question
from engine.model.search import SearchRequest
from engine.retrieval.query import Ranked


def planned(text: str, retrieval: Retrieval, plan_of: Callable[[Question, Corpus], Plan], k: int) -> Ranked:
    """The best `k` passages in the order in which they are read; scores never increase."""
    question = Question(SearchRequest(objective=text, context=text))
    plan = plan_of(question, retrieval.corpus())
    gathering = Gathering()
    for query in distinct(plan.queries):
        gathering.add(query, retrieval.retrieve(query, max(QUERY_K, k)))
    chosen = select(gathering, plan, k)
    # A later choice may gain more where it covers another part; scores of hits go down all the same.
    scores = np.minimum.accumulate(np.asarray([g.score for g in chosen], np.float32))
    none = np.zeros(len(chosen), np.float32)
    return Ranked(tuple(g.passage for g in chosen), scores, none, none, frozenset(gathering.scanned))
