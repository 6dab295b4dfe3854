"""Retrieval by the offline plan: its queries, merged and selected for coverage, as a search reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from engine.agent.evidence.coverage import Coverage
from engine.agent.evidence.select import select
from engine.agent.gathering import Gathering, distinct
from engine.agent.hops import Lookups, with_links
from engine.agent.material import QUERY_K
from engine.agent.ports import Retrieval
from engine.agent.steps import Corpus, Plan, PlannedQuery
from engine.model.document import Passage
from engine.model.search import SearchRequest
from engine.question.turn import Question
from engine.retrieval.query import Ranked

LEADING = 10
"""Passages of the whole question that are looked at for its parts; half of them stand before what a part adds."""
BROUGHT_UP = 3
"""First passages of a part that are looked at."""
ADDED_COVERAGE = 0.25
"""How much better a passage must cover a part than the leading ones do, as a share of the part's weight."""


def planned(text: str, retrieval: Retrieval, plan_of: Callable[[Question, Corpus], Plan], k: int) -> Ranked:
    """The best `k` passages in the order in which they are read; scores never increase.

    Where nothing narrows, the ranking of the whole question stays as it is but for what its best passages name, and a
    part adds only what the whole left out: with the same words and no filter, a part knows less than the whole does.
    """
    question = Question(SearchRequest(objective=text, context=text))
    corpus = retrieval.corpus()
    question = msgspec.structs.replace(
        question, rarity=retrieval.rarity(text), documents=corpus.documents, languages=corpus.languages
    )
    plan = plan_of(question, corpus)
    queries = distinct(plan.queries)
    if not any(query.narrowing for query in queries):
        return _led_by_whole(queries, plan, question, retrieval, k)
    gathering = Gathering()
    for query, ranked in zip(queries, retrieval.retrieve_all(queries, max(QUERY_K, k)), strict=True):
        gathering.add(query, ranked)
    chosen = select(gathering, plan, k, question=question)
    # A later choice may gain more where it covers another part; scores of hits go down all the same.
    scores = np.minimum.accumulate(np.asarray([g.score for g in chosen], np.float32))
    return _unscored(tuple(g.passage for g in chosen), scores, frozenset(gathering.scanned))


def _led_by_whole(
    queries: Sequence[PlannedQuery], plan: Plan, question: Question, retrieval: Retrieval, k: int
) -> Ranked:
    if not queries:
        return Ranked.empty()
    lookups = Lookups(retrieval.titled, retrieval.retrieve)
    whole = with_links(question.text, retrieval.retrieve(queries[0], k), lookups, k)
    parts = [query for query in queries[1:] if query.sub_question >= 0]
    if not parts or len(whole.passages) == 0:
        return whole
    rankings = retrieval.retrieve_all(parts, BROUGHT_UP)
    added = _added(whole.passages[:LEADING], parts, plan, question, rankings)
    first = min(LEADING // 2, len(whole.passages))
    rest = [passage for passage in whole.passages[first:] if passage.label not in {a.label for a in added}]
    passages = (*whole.passages[:first], *added, *rest)[:k]
    # What was added has no score in this ranking: it takes that of the passage it stands behind.
    known = dict(zip((p.label for p in whole.passages), whole.scores.tolist(), strict=True))
    scores = [known.get(p.label) if p in whole.passages else None for p in passages]
    falling = np.fmin.accumulate(np.asarray([np.nan if s is None else s for s in scores], np.float32))
    scanned = whole.scanned.union(*(ranking.scanned for ranking in rankings))
    return _unscored(passages, falling, scanned)


def _added(
    leading: Sequence[Passage],
    parts: Sequence[PlannedQuery],
    plan: Plan,
    question: Question,
    rankings: Sequence[Ranked],
) -> list[Passage]:
    """One passage at most for each part: the first that covers it clearly better than every leading one does."""
    pool = {p.label: p for p in (*leading, *(p for ranking in rankings for p in ranking.passages))}
    texts = tuple(plan.sub_questions[part.sub_question] for part in parts)
    coverage = Coverage(question, Plan(texts, ()), list(pool.values()))
    place = {label: number for number, label in enumerate(pool)}

    def covered(number: int, passage: Passage) -> float:
        return float(coverage.rows(place[passage.label])[:, number].max(initial=0.0))

    added: list[Passage] = []
    for number, ranking in enumerate(rankings):
        known = max((covered(number, p) for p in (*leading, *added)), default=0.0)
        found = [p for p in ranking.passages if covered(number, p) >= known + ADDED_COVERAGE]
        added += found[:1]
    return added


def _unscored(passages: tuple[Passage, ...], scores: np.ndarray, scanned: frozenset[str]) -> Ranked:
    none = np.zeros(len(passages), np.float32)
    return Ranked(passages, scores, none, none, scanned)
