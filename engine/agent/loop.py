"""One turn of a search: plan → retrieve → read → answer → … → verify.

Both sets of steps run here. The loop owns what no step may decide: the caller's filter, the budget, which query has
run, and what leaves as an answer. With steps on a model, whose plan takes seconds, searching and reading begin with a
plan made by rules, and the model's own queries join before the answer is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from engine.agent.answer.not_found import names_absent, not_found, withdrawn
from engine.agent.answer.verify import Verified, verified
from engine.agent.budget import Budget
from engine.agent.drafts import AnswerDraft
from engine.agent.gathering import Gathered
from engine.agent.hops import followed, leads, together
from engine.agent.material import Material
from engine.agent.ports import Retrieval
from engine.agent.state import TurnResult, TurnState, everything_asked, fitting, ordered
from engine.agent.status import counted, describe
from engine.agent.steps import (
    ClarificationDraft,
    Corpus,
    Evidence,
    Judgement,
    Outcome,
    Plan,
    PlannedQuery,
    SoFar,
    Steps,
)
from engine.agent.titles import Link
from engine.agent.workers import InThread
from engine.model.events import StatusEvent
from engine.model.explain import Explanation
from engine.model.observer import Observer, timed

UNREAD = 24
"""Passages that the model's own queries add in the first round; the answer sees them whole, as no reader has."""
UNREAD_BLOCKS = 12
"""Sentences of such a passage."""
CLARIFIED = 24
"""Passages that a clarifier looks at."""


class Turn:
    """Runs one turn. Used once.

    Args:
        run: runs index queries; a turn never blocks its event loop.
        tells_sentences: each sentence of the answer is an event as soon as nothing can remove it.
    """

    def __init__(
        self,
        steps: Steps,
        retrieval: Retrieval,
        budget: Budget,
        run: InThread,
        observer: Observer,
        *,
        tells_sentences: bool = False,
    ) -> None:
        self._steps = steps
        self._material = Material(retrieval, budget, run, with_facts=steps.opening is not None)
        self._budget = budget
        self._observer = observer
        self._tells_sentences = tells_sentences

    async def run(self, state: TurnState) -> AsyncGenerator[StatusEvent]:
        """Progress, while `state` is worked on; `state.result` is set when it ends without an exception.

        Raises:
            QuarryError: a step failed and had no twin to do its work.
        """
        corpus = await self._material.open()
        if corpus.documents == 0:
            yield StatusEvent("There are no documents to search here")
            state.result = TurnResult(synthesis=not_found(state.question, (), 0))
            return
        yield StatusEvent("Planning the search")
        state.question = msgspec.structs.replace(
            state.question,
            rarity=await self._material.rarity(everything_asked(state.question)),
            filterable=corpus.schema.filterable(),
            documents=corpus.documents,
            languages=corpus.languages,
        )
        planning = asyncio.create_task(self._plan(state, corpus)) if self._steps.opening is not None else None
        try:
            async for event in self._searched(state, corpus, planning):
                yield event
        finally:
            if planning is not None and not planning.done():
                planning.cancel()
                await asyncio.gather(planning, return_exceptions=True)

    async def _plan(self, state: TurnState, corpus: Corpus) -> Plan:
        with timed(self._observer, "plan"):
            return await self._steps.planner.plan(state.question, corpus)

    async def _searched(
        self, state: TurnState, corpus: Corpus, planning: asyncio.Task[Plan] | None
    ) -> AsyncGenerator[StatusEvent]:
        opening = self._steps.opening
        plan = await (self._plan(state, corpus) if opening is None else opening.plan(state.question, corpus))
        state.evidence = await self._material.refreshed(fitting(state.evidence, plan, state.question))
        queries: Sequence[PlannedQuery] = plan.queries
        outcome = Outcome(Judgement(sufficient=False))
        for number in range(self._budget.settings.rounds):
            fresh = self._material.fresh(state, queries)
            if not fresh and number > 0:
                break
            state.rounds = number + 1
            for query in fresh:
                yield StatusEvent(describe(query))
            first = len(state.gathering.executed)
            found = await self._material.retrieve(state, fresh)
            plan = _following(state, plan, fresh, () if number else found)
            chosen = self._material.choose(state, plan, self._steps.read_per_round, since=first if number else 0)
            if number > 0 and not chosen:
                # Nothing new came up: what there is must do.
                break
            if chosen:
                documents = len({g.passage.document_id for g in chosen})
                yield StatusEvent(f"Reading {counted(len(chosen), 'passage')} of {counted(documents, 'document')}")
            asked = await self._read_or_ask(state, plan, chosen, may_ask=state.may_ask and number == 0)
            if asked is not None:
                yield StatusEvent("Asking back, because the documents read the question in different ways")
                state.result = TurnResult(clarification=asked, evidence=tuple(state.evidence.values()))
                state.explanation = self._explained(state, plan)
                return
            if planning is not None and number == 0:
                plan = msgspec.structs.replace(
                    await planning, followed=plan.followed, together=plan.together, leads=plan.leads
                )
                joined = self._material.fresh(state, plan.queries)
                for query in joined:
                    yield StatusEvent(describe(query))
                await self._add_unread(state, plan, joined)
            outcome = await self._decide(state, plan, self._budget.settings.rounds - number - 1)
            if self._ends(state, outcome):
                break
            queries = outcome.judgement.queries
        if outcome.draft is None and outcome.judgement.queries:
            # It asked for more than could be looked for: it answers from what there is.
            outcome = await self._decide(state, plan, 0)
        yield StatusEvent("Writing the answer")
        async for event in self._answer(state, plan, outcome):
            yield event

    def _ends(self, state: TurnState, outcome: Outcome) -> bool:
        """Whether there is nothing more to look for, or no time for it."""
        if outcome.judgement.sufficient or not outcome.judgement.queries:
            return True
        state.out_of_time = self._budget.seconds_to_soft() <= 0
        return state.out_of_time

    async def _read_or_ask(
        self, state: TurnState, plan: Plan, chosen: Sequence[Gathered], *, may_ask: bool
    ) -> ClarificationDraft | None:
        """Read while the clarifier looks at the same passages; a question back ends the reading."""
        reading = asyncio.create_task(self._read(state, plan, chosen)) if chosen else None
        try:
            if may_ask and (asked := await self._clarify(state, plan)) is not None:
                return asked
            if reading is not None:
                await reading
        finally:
            if reading is not None and not reading.done():
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        return None

    async def _clarify(self, state: TurnState, plan: Plan) -> ClarificationDraft | None:
        """Ask the clarifier about what a first retrieval brought up, unread."""
        shown = state.gathering.ranking()[:CLARIFIED]
        passages = await self._material.passages(shown)
        unread = [Evidence(passage, (), 0.0) for passage in passages]
        return await self._steps.clarifier.clarify(state.question, plan, unread)

    async def _read(self, state: TurnState, plan: Plan, chosen: Sequence[Gathered]) -> None:
        passages = await self._material.passages(chosen)
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

    async def _add_unread(self, state: TurnState, plan: Plan, queries: Sequence[PlannedQuery]) -> None:
        """Run the plan's own queries; what they add is evidence as it stands, because reading it would take a call.

        What readers said of the parts of the opening plan says nothing of the parts of this one.
        """
        first = len(state.gathering.executed)
        await self._material.retrieve(state, queries)
        state.evidence = {k: msgspec.structs.replace(e, sub_questions=()) for k, e in state.evidence.items()}
        chosen = self._material.choose(state, plan, UNREAD, since=first) if queries else []
        for passage in await self._material.passages(chosen):
            ids = tuple(block.id for block in passage.blocks[:UNREAD_BLOCKS])
            if ids:
                state.evidence[passage.passage.label] = Evidence(passage, ids, 0.0)
        state.read |= {g.passage.label for g in chosen}

    async def _decide(self, state: TurnState, plan: Plan, rounds_left: int) -> Outcome:
        """Ask for an answer, or for what to look for first."""
        if self._steps.opening is not None:
            await self._material.look_up_names(state, plan)
        first = len(state.gathering.executed) - len(state.queries)
        so_far = SoFar(
            executed=tuple(state.gathering.executed),
            hits={first + n: query.hits for n, query in enumerate(state.queries)},
            rounds_left=0 if self._budget.seconds_to_soft() <= 0 or not self._budget.queries_left() else rounds_left,
            dropped=tuple(dict.fromkeys(state.dropped)),
            absent=tuple(name for name, is_absent in state.absent.items() if is_absent),
        )
        with timed(self._observer, "answer"):
            return await self._steps.answerer.answer(state.question, plan, ordered(state), so_far)

    async def _answer(self, state: TurnState, plan: Plan, outcome: Outcome) -> AsyncGenerator[StatusEvent]:
        evidence, judgement = ordered(state), outcome.judgement
        done = Verified()
        if judgement.answerable and evidence and outcome.draft is not None:
            told: asyncio.Queue[str | None] = asyncio.Queue()
            task = asyncio.create_task(self._verify(state, evidence, outcome, told.put_nowait))
            task.add_done_callback(lambda _: told.put_nowait(None))
            try:
                while (sentence := await told.get()) is not None:
                    if self._tells_sentences:
                        yield StatusEvent(f"Checked: {sentence}")
                done = await task
            finally:
                if not task.done():
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
        synthesis = done.synthesis
        if not done.results:
            synthesis = await self._nothing(state, plan, outcome)
            if (notice := self._steps.notice()) is not None:
                synthesis = f"{synthesis} {notice}"
        for _ in done.removed:
            self._observer.count("statements_removed")
        state.result = TurnResult(synthesis, done.results, tuple(evidence))
        state.explanation = self._explained(state, plan, done)

    async def _verify(
        self, state: TurnState, evidence: Sequence[Evidence], outcome: Outcome, passed: Callable[[str], None]
    ) -> Verified:
        draft = outcome.draft or AnswerDraft((), ())
        caveats: list[str] = []
        if draft.written and not outcome.judgement.sufficient:
            caveats.append(names_absent([name for name, is_absent in state.absent.items() if is_absent]))
        if state.out_of_time:
            caveats.append("The search stopped at its time limit; this may be incomplete.")
        with timed(self._observer, "verify"):
            done = await verified(
                draft,
                evidence,
                state.question,
                self._material.documents,
                checker=self._steps.checker,
                repairer=self._steps.answerer,
                caveats=caveats,
                passed=passed,
            )
        if done.results and (notice := self._steps.notice()) is not None:
            done.synthesis = f"{done.synthesis} {notice}"
        return done

    async def _nothing(self, state: TurnState, plan: Plan, outcome: Outcome) -> str:
        """What is said without results; "not found" only where nothing was found."""
        if outcome.judgement.answerable and outcome.draft is not None and outcome.draft.findings:
            return withdrawn(state.question)
        await self._material.look_up_names(state, plan)
        absent = [name for name, is_absent in state.absent.items() if is_absent]
        return not_found(state.question, state.gathering.executed, len(state.gathering.scanned), absent=absent)

    def _explained(self, state: TurnState, plan: Plan, done: Verified | None = None) -> Explanation:
        trace, done = self._steps.trace, done or Verified()
        return Explanation(
            parts=tuple(part.text for part in plan.sub_questions),
            shape=plan.shape,
            queries=tuple(state.queries),
            dropped_conditions=tuple(dict.fromkeys((*(trace.dropped() if trace else ()), *state.dropped))),
            rounds=state.rounds,
            read=len(state.read),
            evidence=len(state.evidence),
            checked=done.checked,
            removed=(*(trace.removed() if trace else ()), *done.removed),
            calls=trace.calls() if trace else (),
            degraded=trace.degraded() if trace else (),
        )


def _following(state: TurnState, plan: Plan, queries: Sequence[PlannedQuery], found: Sequence[Link]) -> Plan:
    """The plan with what is asked of documents that the best passages name."""
    if not found:
        return plan
    state.links = found
    return msgspec.structs.replace(
        plan,
        followed=tuple(followed(queries[0].text, found)),
        together=tuple(together(found)),
        leads=leads(found),
    )
