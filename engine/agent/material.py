"""What a turn brings up: queries run, passages chosen and cut into blocks, names looked up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

import msgspec

from engine.agent.answer.facts import with_facts
from engine.agent.answer.gate import own_share
from engine.agent.blocks import shown_attributes, to_reading
from engine.agent.budget import Budget
from engine.agent.evidence.select import select
from engine.agent.gathering import Gathered, distinct
from engine.agent.hops import Lookups, links, spread
from engine.agent.ports import Retrieval
from engine.agent.state import TurnState, said_by_client
from engine.agent.status import describe_filter
from engine.agent.steps import Corpus, Evidence, Plan, PlannedQuery, ReadingPassage
from engine.agent.titles import Link
from engine.agent.workers import InThread
from engine.errors import FilterError
from engine.interruption import Interruption
from engine.model.document import JsonValue
from engine.model.explain import ExplainedQuery
from engine.retrieval.query import Ranked

P = ParamSpec("P")
T = TypeVar("T")

QUERY_K = 40
"""Passages asked of each query."""
MAX_NAMES = 8
"""Names of a question that are looked up when nothing gathered holds them."""
NAME_K = 5


class Material:
    """One turn's way to the namespace; every call that blocks runs in a thread.

    Attributes:
        corpus: what the namespace is; None before `open`.
    """

    def __init__(self, retrieval: Retrieval, budget: Budget, run: InThread, *, with_facts: bool) -> None:
        """`with_facts` shows attribute values with each passage, for steps that cite them."""
        self.corpus: Corpus | None = None
        self._retrieval = retrieval
        self._budget = budget
        self._run = run
        self._with_facts = with_facts
        self._interruption = Interruption()

    async def open(self) -> Corpus:
        """What the planner may know of the namespace."""
        self.corpus = await self._in_thread(self._retrieval.corpus)
        return self.corpus

    async def rarity(self, text: str) -> Mapping[str, float]:
        """As `Retrieval.rarity`."""
        return await self._in_thread(self._retrieval.rarity, text)

    async def documents(self, ids: Sequence[str]) -> dict[str, dict[str, JsonValue]]:
        """As `Retrieval.documents`."""
        return await self._in_thread(self._retrieval.documents, ids)

    def fresh(self, state: TurnState, queries: Sequence[PlannedQuery]) -> list[PlannedQuery]:
        """Those that have not run, as many as the budget allows."""
        return [q for q in distinct(queries) if not state.gathering.has_run(q)][: self._budget.queries_left()]

    async def retrieve(self, state: TurnState, queries: Sequence[PlannedQuery]) -> list[Link]:
        """Run queries and merge what they bring up; returns what the best passages for the first of them name."""
        self._budget.queries_run += len(queries)
        groups = [[query] for query in queries] if self._retrieval.waits else [queries]
        found_of = await asyncio.gather(*(self._in_thread(self._ranked, group) for group in groups))
        rankings = [one for group in found_of for one in group]
        found: list[Link] = []
        if queries and queries[0].sub_question < 0 and not queries[0].narrowing:
            whole, was_dropped = rankings[0]
            found = await self._in_thread(links, queries[0].text, whole, Lookups(self._titled, self._looked_up))
            rankings[0] = spread(whole, found, QUERY_K), was_dropped
        for wanted, (ranked, was_dropped) in zip(queries, rankings, strict=True):
            query = msgspec.structs.replace(wanted, narrowing=None) if was_dropped else wanted
            if was_dropped:
                state.dropped.append(describe_filter(wanted.narrowing or {}))
            before = len(state.gathering.passages)
            state.gathering.add(query, ranked)
            new = len(state.gathering.passages) - before
            hits = len(ranked.passages)
            state.queries.append(ExplainedQuery(query.text, query.mode, state.rounds, hits, new, query.narrowing))
        return found

    def _titled(self, text: str, k: int) -> Ranked:
        self._budget.queries_run += 1
        return self._retrieval.titled(text, k)

    def _looked_up(self, query: PlannedQuery, k: int) -> Ranked:
        if not self._budget.queries_left():
            return Ranked.empty()
        self._budget.queries_run += 1
        return self._retrieval.retrieve(query, k)

    def choose(self, state: TurnState, plan: Plan, k: int, *, since: int = 0) -> list[Gathered]:
        """What to read next: what the queries from number `since` on brought up, not what earlier ones left."""
        chosen = select(state.gathering, plan, k, question=state.question, already=state.read)
        linked = {link.passage.document_id: link for link in reversed(state.links)}
        # What a good passage names shares few words with the question and would be passed over.
        beside = [g for g in state.gathering.ranking() if linked.pop(g.passage.document_id, None) is not None]
        added = [
            g for g in beside if g.passage.label not in state.read and all(g.passage is not c.passage for c in chosen)
        ]
        return [g for g in (*chosen[: k - len(added)], *added) if max(g.queries, default=0) >= since]

    async def passages(self, chosen: Sequence[Gathered]) -> list[ReadingPassage]:
        """Chosen passages as the steps see them."""
        return await self._in_thread(self._reading_passages, chosen)

    async def refreshed(self, evidence: Mapping[int, Evidence]) -> dict[int, Evidence]:
        """Evidence of earlier turns with the facts of its documents, which a session does not keep."""
        corpus = self.corpus
        if not self._with_facts or corpus is None or not evidence:
            return dict(evidence)
        ids = list(dict.fromkeys(e.passage.passage.document_id for e in evidence.values()))
        documents = await self.documents(ids)
        return {
            label: msgspec.structs.replace(e, passage=with_facts(e.passage, documents, corpus.schema))
            for label, e in evidence.items()
        }

    async def look_up_names(self, state: TurnState, plan: Plan) -> None:
        """Find out which names of the question stand nowhere, so that their absence can be told."""
        names = dict.fromkeys(name for part in plan.sub_questions for name in part.entities)
        asked = said_by_client(state.question)
        unknown = [name for name in names if name not in state.absent and own_share(name, [asked]) == 1.0][:MAX_NAMES]
        if unknown:
            texts = [f"{g.passage.header} {g.passage.text}" for g in state.gathering.passages.values()]
            state.absent |= await self._in_thread(self._absent, unknown, texts)

    def _ranked(self, queries: Sequence[PlannedQuery]) -> list[tuple[Ranked, bool]]:
        """What each query brings up, and whether its narrowing had to be dropped."""
        try:
            return [(ranked, False) for ranked in self._retrieval.retrieve_all(queries, QUERY_K)]
        except FilterError:
            return [self._ranked_alone(query) for query in queries]

    def _ranked_alone(self, query: PlannedQuery) -> tuple[Ranked, bool]:
        try:
            return self._retrieval.retrieve(query, QUERY_K), False
        except FilterError:
            # A narrowing that the schema refuses must not cost the query.
            return self._retrieval.retrieve(msgspec.structs.replace(query, narrowing=None), QUERY_K), True

    def _reading_passages(self, chosen: Sequence[Gathered]) -> list[ReadingPassage]:
        documents = self._retrieval.documents(list(dict.fromkeys(g.passage.document_id for g in chosen)))
        passages = [
            to_reading(g.passage, g.score, g.queries, shown_attributes(documents.get(g.passage.document_id, {})))
            for g in chosen
        ]
        if self.corpus is None:
            return passages
        known = [with_facts(passage, documents, self.corpus.schema) for passage in passages]
        return without_titles(known) if self._with_facts else known

    def _absent(self, names: Sequence[str], texts: Sequence[str]) -> dict[str, bool]:
        found: dict[str, bool] = {}
        for name in names:
            held = any(own_share(name, [text]) == 1.0 for text in texts)
            if not held and self._budget.queries_left():
                self._budget.queries_run += 1
                hits = self._retrieval.retrieve(PlannedQuery(name, mode="lexical"), NAME_K).passages
                held = any(own_share(name, [f"{hit.header} {hit.text}"]) == 1.0 for hit in hits)
            found[name] = not held
        return found

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._run(self._interruption.run, work, *args, **kwargs)
        except asyncio.CancelledError:
            # A thread cannot be cancelled; the statement that it waits for can.
            self._interruption.fire()
            raise


def without_titles(passages: Sequence[ReadingPassage]) -> list[ReadingPassage]:
    """Passages without those that only repeat an attribute value that stands beside another of their document."""
    counts = Counter(p.passage.document_id for p in passages)
    kept: list[ReadingPassage] = []
    for passage in passages:
        is_value = any(passage.passage.text.strip() == fact.text.strip() for fact in passage.facts)
        if is_value and counts[passage.passage.document_id] > 1:
            counts[passage.passage.document_id] -= 1
        else:
            kept.append(passage)
    return kept
