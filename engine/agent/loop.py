"""One turn of a search: plan → retrieve → read → judge → … → synthesize → verify.

Both sets of steps run here. The loop owns what no step may decide: the caller's filter, the budget, which query has
run, and what leaves as an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar, cast

import msgspec

from engine.agent.answer.not_found import not_found
from engine.agent.answer.verify import verified
from engine.agent.blocks import shown_attributes, to_reading
from engine.agent.budget import Budget
from engine.agent.evidence.coverage import Coverage
from engine.agent.evidence.select import select
from engine.agent.gathering import Gathered, Gathering, distinct
from engine.agent.hops import Link, followed, links, spread, together
from engine.agent.ports import Retrieval
from engine.agent.steps import (
    ClarificationDraft,
    Evidence,
    Judgement,
    Plan,
    PlannedQuery,
    Question,
    ReadingPassage,
    Steps,
)
from engine.agent.workers import InThread
from engine.errors import FilterError
from engine.model.events import StatusEvent
from engine.model.observer import Observer, timed
from engine.model.search import Result
from engine.retrieval.query import Ranked
from engine.storage.interruption import Interruption

P = ParamSpec("P")
T = TypeVar("T")

QUERY_K = 40
"""Passages asked of each query."""
READ_PER_ROUND = 24
"""Passages read in a round: what is selected for coverage out of everything gathered."""
LEAST_FITTING = 1.5
"""Relevance, of 10, that evidence of an earlier turn must have for this one."""
MAX_SHOWN_QUERY = 120
MAX_COUNTED_CONTEXT = 4_000
"""Characters of the context whose words are looked up in the index."""


@dataclass(slots=True)
class TurnResult:
    """How a turn ended: an answer, or a clarification."""

    synthesis: str = ""
    results: tuple[Result, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    clarification: ClarificationDraft | None = None


@dataclass(slots=True)
class TurnState:
    """What a turn works on. `evidence` and `gathering.executed` begin with what earlier turns left."""

    question: Question
    may_ask: bool
    gathering: Gathering = field(default_factory=Gathering)
    evidence: dict[int, Evidence] = field(default_factory=dict[int, Evidence])
    read: set[int] = field(default_factory=set[int])
    links: Sequence[Link] = ()
    out_of_time: bool = False
    result: TurnResult | None = None


class Turn:
    """Runs one turn. Used once.

    Args:
        run: runs index queries; a turn never blocks its event loop.
    """

    def __init__(
        self,
        steps: Steps,
        retrieval: Retrieval,
        budget: Budget,
        run: InThread,
        observer: Observer,
    ) -> None:
        self._steps = steps
        self._retrieval = retrieval
        self._budget = budget
        self._run = run
        self._observer = observer
        self._interruption = Interruption()

    async def run(self, state: TurnState) -> AsyncGenerator[StatusEvent]:
        """Progress, while `state` is worked on; `state.result` is set when it ends without an exception.

        Raises:
            QuarryError: a step failed and had no twin to do its work.
        """
        corpus = await self._in_thread(self._retrieval.corpus)
        if corpus.documents == 0:
            yield StatusEvent("There are no documents to search here")
            state.result = TurnResult(synthesis=not_found(state.question, (), 0))
            return
        yield StatusEvent("Planning the search")
        state.question = msgspec.structs.replace(
            state.question,
            rarity=await self._in_thread(self._retrieval.rarity, everything_asked(state.question)),
            filterable=corpus.schema.filterable(),
            documents=corpus.documents,
            languages=corpus.languages,
        )
        with timed(self._observer, "plan"):
            plan = await self._steps.planner.plan(state.question, corpus)
        state.evidence = fitting(state.evidence, plan, state.question)
        queries: Sequence[PlannedQuery] = plan.queries
        judgement = Judgement(sufficient=False)
        for number in range(self._budget.settings.rounds):
            fresh = [q for q in distinct(queries) if not state.gathering.has_run(q)][: self._budget.queries_left()]
            if not fresh and number > 0:
                break
            for query in fresh:
                yield StatusEvent(describe(query))
            found = await self._retrieve(state, fresh)
            if number == 0 and found:
                state.links = found
                plan = msgspec.structs.replace(
                    plan, followed=tuple(followed(fresh[0].text, found)), together=tuple(together(found))
                )
            if number == 0 and state.may_ask and (asked := await self._clarify(state, plan)) is not None:
                yield StatusEvent("Asking back, because the documents read the question in different ways")
                state.result = TurnResult(clarification=asked, evidence=tuple(state.evidence.values()))
                return
            chosen = select(state.gathering, plan, READ_PER_ROUND, question=state.question, already=state.read)
            if chosen:
                documents = len({g.passage.document_id for g in chosen})
                yield StatusEvent(f"Reading {counted(len(chosen), 'passage')} of {counted(documents, 'document')}")
                await self._read(state, plan, chosen)
            with timed(self._observer, "judge"):
                judgement = await self._steps.judge.judge(
                    state.question, plan, ordered(state), state.gathering.executed
                )
            if judgement.sufficient or not judgement.queries:
                break
            if self._budget.seconds_to_soft() <= 0:
                state.out_of_time = True
                break
            queries = judgement.queries
        yield StatusEvent("Writing the answer")
        await self._answer(state, plan, judgement)

    async def _retrieve(self, state: TurnState, queries: Sequence[PlannedQuery]) -> list[Link]:
        """Gather what `queries` bring up; returns what the best passages for the first of them name."""
        self._budget.queries_run += len(queries)
        rankings = await asyncio.gather(*(self._in_thread(self._ranked, query) for query in queries))
        found: list[Link] = []
        if queries and queries[0].sub_question < 0 and not queries[0].narrowing:
            found = await self._in_thread(links, queries[0].text, rankings[0], self._titled)
            rankings[0] = spread(rankings[0], found, QUERY_K)
        for query, ranked in zip(queries, rankings, strict=True):
            state.gathering.add(query, ranked)
        return found

    def _titled(self, text: str, k: int) -> Ranked:
        self._budget.queries_run += 1
        return self._retrieval.titled(text, k)

    def _ranked(self, query: PlannedQuery) -> Ranked:
        try:
            return self._retrieval.retrieve(query, QUERY_K)
        except FilterError:
            # A narrowing that the schema refuses must not cost the query.
            return self._retrieval.retrieve(msgspec.structs.replace(query, narrowing=None), QUERY_K)

    async def _clarify(self, state: TurnState, plan: Plan) -> ClarificationDraft | None:
        """Ask the clarifier about what a first retrieval brought up, unread."""
        shown = state.gathering.ranking()[:READ_PER_ROUND]
        passages = await self._in_thread(self._reading_passages, shown)
        unread = [Evidence(passage, (), 0.0) for passage in passages]
        return await self._steps.clarifier.clarify(state.question, plan, unread)

    async def _read(self, state: TurnState, plan: Plan, chosen: Sequence[Gathered]) -> None:
        passages = await self._in_thread(self._reading_passages, chosen)
        with timed(self._observer, "read"):
            found = await self._steps.reader.read(state.question, plan, passages)
        state.read |= {g.passage.label for g in chosen}
        for evidence in found:
            state.evidence[evidence.passage.passage.label] = evidence
        best = max((e.relevance for e in found), default=0.0)
        for link in state.links:
            # Of what the question describes, the document that has its name is evidence whatever words it uses.
            held = state.evidence.get(link.passage.label)
            if held is not None and held.relevance < best * link.strength:
                state.evidence[link.passage.label] = msgspec.structs.replace(held, relevance=best * link.strength)

    def _reading_passages(self, chosen: Sequence[Gathered]) -> list[ReadingPassage]:
        documents = self._retrieval.documents(list(dict.fromkeys(g.passage.document_id for g in chosen)))
        return [
            to_reading(g.passage, g.score, g.queries, shown_attributes(documents.get(g.passage.document_id, {})))
            for g in chosen
        ]

    async def _answer(self, state: TurnState, plan: Plan, judgement: Judgement) -> None:
        evidence = ordered(state)
        synthesis, results = "", ()
        if judgement.answerable and evidence:
            with timed(self._observer, "synthesize"):
                draft = await self._steps.synthesizer.synthesize(state.question, plan, evidence, judgement)
            with timed(self._observer, "verify"):
                synthesis, results = await verified(
                    draft,
                    evidence,
                    self._steps.synthesizer,
                    state.question,
                    lambda ids: self._in_thread(self._retrieval.documents, ids),
                    caveats=("The search stopped at its time limit; this may be incomplete.",)
                    if state.out_of_time
                    else (),
                )
        if not results:
            synthesis = not_found(state.question, state.gathering.executed, len(state.gathering.scanned))
            if (notice := self._steps.notice()) is not None:
                synthesis = f"{synthesis} {notice}"
        state.result = TurnResult(synthesis, results, tuple(evidence))

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._run(self._interruption.run, work, *args, **kwargs)
        except asyncio.CancelledError:
            # A thread cannot be cancelled; the statement that it waits for can.
            self._interruption.fire()
            raise


def everything_asked(question: Question) -> str:
    """Objective, messages and the beginning of the context, for looking up how rare their words are."""
    said = [question.request.objective, question.message, *(turn.message for turn in question.turns)]
    return " ".join([*said, question.request.context[:MAX_COUNTED_CONTEXT]])


def fitting(earlier: Mapping[int, Evidence], plan: Plan, question: Question) -> dict[int, Evidence]:
    """Evidence of earlier turns as far as it bears on this plan: what answered one question is noise in another.

    Its relevance sinks to what its best sentence covers now. What this turn's queries bring up again is read anew.
    """
    if not earlier:
        return {}
    coverage = Coverage(question, plan, [e.passage.passage for e in earlier.values()])
    fitted = {
        label: msgspec.structs.replace(e, relevance=min(e.relevance, 10.0 * coverage.best(number)))
        for number, (label, e) in enumerate(earlier.items())
    }
    return {label: e for label, e in fitted.items() if e.relevance >= LEAST_FITTING}


def ordered(state: TurnState) -> list[Evidence]:
    """Evidence, most relevant first; ties to the better ranked passage."""
    return sorted(state.evidence.values(), key=lambda e: (-e.relevance, -e.passage.score, e.passage.passage.label))


def describe(query: PlannedQuery) -> str:
    """What a query looks for, in words a person reads.

    >>> describe(PlannedQuery("new phones", narrowing={"source": "TechCrunch"}))
    'Searching for “new phones” in source = TechCrunch'
    """
    text = query.text if len(query.text) <= MAX_SHOWN_QUERY else query.text[: MAX_SHOWN_QUERY - 1] + "…"
    if not query.narrowing:
        return f"Searching for “{text}”"
    return f"Searching for “{text}” in {describe_filter(query.narrowing)}"


def describe_filter(narrowing: Mapping[str, Any]) -> str:
    """A filter in words.

    >>> describe_filter({"year": {"$gte": 2020, "$lt": 2023}})
    'year ≥ 2020, year < 2023'
    """
    parts: list[str] = []
    for name, condition in narrowing.items():
        if name in ("$and", "$or", "$nor"):
            parts.append(f" {name[1:]} ".join(describe_filter(part) for part in condition))
        elif name == "$not":
            parts.append(f"not {describe_filter(condition)}")
        elif isinstance(condition, Mapping):
            held = cast("Mapping[str, Any]", condition)
            parts += [
                f"{name} {_SIGNS.get(operator, operator[1:])} {_shown(value)}" for operator, value in held.items()
            ]
        else:
            parts.append(f"{name} = {_shown(condition)}")
    return ", ".join(parts)


_SIGNS = {"$eq": "=", "$neq": "≠", "$gt": ">", "$gte": "≥", "$lt": "<", "$lte": "≤"}


def _shown(value: object) -> str:
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)


def counted(n: int, noun: str) -> str:
    """``1 passage``, ``2 passages``."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
