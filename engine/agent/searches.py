"""Searches and their sessions: from a checked request to a stream of events, and from a session to its next turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import date
from typing import Any

import msgspec

from engine.agent.answer.support import attribute_value
from engine.agent.bound import BoundRetrieval
from engine.agent.budget import Budget
from engine.agent.gathering import Gathering
from engine.agent.loop import Turn as TurnRun
from engine.agent.options import meant
from engine.agent.planned import planned
from engine.agent.sessions import MAX_EVIDENCE, SessionState, decode_state, encode_state
from engine.agent.state import TurnResult, TurnState
from engine.agent.steps import Corpus, Evidence, Plan, StepsFactory
from engine.agent.workers import Workers
from engine.backend.protocol import Backend
from engine.errors import QuarryError, SearchTimeout
from engine.filters.check import CheckedFilter, conjoin, parse_filter
from engine.interruption import Interruption
from engine.model.events import Event, SearchFailed, SessionResult, StatusEvent
from engine.model.explain import Explanation
from engine.model.ids import new_session_id
from engine.model.namespace import StoredNamespace
from engine.model.observer import Observer, timed
from engine.model.search import (
    MAX_CLARIFICATIONS,
    MAX_OBJECTIVE,
    Clarification,
    Failure,
    Mode,
    SearchRequest,
    SearchResponse,
    check_text,
)
from engine.question.turn import Question, Turn
from engine.retrieval.query import Ranked, RetrievalQuery
from engine.retrieval.retriever import Retriever
from engine.settings import BudgetSettings
from engine.store.protocol import Sessions

_log = logging.getLogger(__name__)


class Searches:
    """Runs the searches of one data directory. Thread-safe; its streams belong to the event loop that reads them.

    Args:
        make_steps: the steps of one turn.
        plan_offline: the plan that needs no model, for ``retrieve(mode="planned")``.
        tells_sentences: each sentence of an answer is an event once it has passed its checks.
    """

    def __init__(
        self,
        retriever: Retriever,
        backend: Backend,
        sessions: Sessions,
        make_steps: StepsFactory,
        plan_offline: Callable[[Question, Corpus], Plan],
        budget: BudgetSettings,
        observer: Observer,
        today: Callable[[], date],
        workers: Workers,
        *,
        tells_sentences: bool = True,
    ) -> None:
        self._retriever = retriever
        self._backend = backend
        self._sessions = sessions
        self._make_steps = make_steps
        self._plan_offline = plan_offline
        self._budget = budget
        self._observer = observer
        self._today = today
        self._workers = workers
        self._tells_sentences = tells_sentences

    def retrieve(
        self, namespace: StoredNamespace, text: str, k: int, where: CheckedFilter | None, mode: Mode
    ) -> Ranked:
        """The best `k` passages; see `Engine.retrieve`."""
        self._retriever.check(namespace)
        if where is None:
            return self._retrieve(namespace, text, k, where, mode)
        # A filter within the limits can still be slow on many documents.
        with Interruption(self._budget.hard_seconds) as interruption:
            return interruption.run(self._retrieve, namespace, text, k, where, mode)

    def _retrieve(
        self, namespace: StoredNamespace, text: str, k: int, where: CheckedFilter | None, mode: Mode
    ) -> Ranked:
        if mode == "planned":
            bound = BoundRetrieval(self._retriever, self._backend, namespace, where, self._today)
            return planned(text, bound, self._plan_offline, k)
        return self._retriever.run(namespace.id, RetrievalQuery(text=text, k=k, where=where, mode=mode))

    def start(self, namespace: StoredNamespace, request: SearchRequest) -> AsyncGenerator[Event]:
        """The events of a new search.

        Raises:
            InvalidRequest, FilterError: at once, before the first event is asked for.
        """
        request.check()
        bound = self._bind(namespace, request, None)
        state = TurnState(Question(request), may_ask=request.multiturn)
        return self._events(namespace, new_session_id(), SessionState(request=request), state, bound, is_new=True)

    def resume(
        self, namespace: StoredNamespace, session_id: str, message: str, *, include_attributes: bool | None = None
    ) -> AsyncGenerator[Event]:
        """The events of a session's next turn.

        Raises:
            InvalidRequest, SessionNotFound, SessionExpired, SessionBusy, SessionFailed: at once.
        """
        check_text(message, "message", MAX_OBJECTIVE)
        stored = self._sessions.claim(namespace.company_id, namespace.id, session_id)
        try:
            session = decode_state(stored.state)
            if include_attributes is not None:
                request = msgspec.structs.replace(session.request, include_attributes=include_attributes)
                session = msgspec.structs.replace(session, request=request)
            # Whoever has just answered a question is not asked another.
            has_answered = session.pending is not None
            session, message = settled(session, message)
            bound = self._bind(namespace, session.request, session.narrowing)
            state = TurnState(
                Question(session.request, session.turns, message, session.narrowing),
                may_ask=session.request.multiturn and not has_answered and session.asked < MAX_CLARIFICATIONS,
                gathering=Gathering(scanned=set(session.scanned)),
                evidence={e.passage.passage.label: e for e in live(session.evidence, bound)},
            )
        except BaseException:
            self._sessions.release(session_id)
            raise
        return self._events(namespace, session_id, session, state, bound, is_new=False)

    def _bind(
        self, namespace: StoredNamespace, request: SearchRequest, narrowing: Mapping[str, Any] | None
    ) -> BoundRetrieval:
        self._retriever.check(namespace)
        where = parse_filter(request.filters, namespace.schema)
        if narrowing:
            where = conjoin(where, parse_filter(narrowing, namespace.schema))
        return BoundRetrieval(self._retriever, self._backend, namespace, where, self._today)

    async def _events(
        self,
        namespace: StoredNamespace,
        session_id: str,
        session: SessionState,
        state: TurnState,
        bound: BoundRetrieval,
        *,
        is_new: bool,
    ) -> AsyncGenerator[Event]:
        budget = Budget(self._budget, tokens_spent=session.tokens_spent)
        closed_well = False
        try:
            with timed(self._observer, "search"):
                turn = TurnRun(
                    self._make_steps(budget),
                    bound,
                    budget,
                    self._workers.run,
                    self._observer,
                    tells_sentences=self._tells_sentences,
                )
                async with aclosing(turn.run(state)) as progress:
                    while (event := await _next(progress, budget)) is not None:
                        yield event
            if state.result is None:
                raise RuntimeError("a turn ended without a result")  # noqa: TRY301 - logged as any other fault
            session = after(session, state, state.result, budget)
            await self._store(namespace, session_id, session, is_new=is_new)
            closed_well = True
            yield SessionResult(response_of(session_id, session, state.result, state.explanation))
        except QuarryError as error:
            closed_well = True
            yield await self._failed(namespace, session_id, session, budget, error, is_new=is_new)
        except Exception:  # noqa: BLE001 - it is logged, and ends the search alone
            # A fault of ours is no reason to answer otherwise than any run that could not finish.
            _log.exception("A search failed")
            closed_well = True
            error = QuarryError("An internal error stopped the search.")
            yield await self._failed(namespace, session_id, session, budget, error, is_new=is_new)
        finally:
            if not closed_well and not is_new:
                # A write to the catalog; the loop must not wait for it, nor must whoever cancels this end it halfway.
                await asyncio.shield(asyncio.to_thread(self._sessions.release, session_id))

    async def _store(self, namespace: StoredNamespace, session_id: str, session: SessionState, *, is_new: bool) -> None:
        raw = encode_state(session)

        def write() -> None:
            if is_new:
                self._sessions.add(namespace.company_id, namespace.id, session_id, raw)
            else:
                self._sessions.save(session_id, raw)

        await self._workers.run(write)

    async def _failed(
        self,
        namespace: StoredNamespace,
        session_id: str,
        session: SessionState,
        budget: Budget,
        error: QuarryError,
        *,
        is_new: bool,
    ) -> SearchFailed:
        """The event of a turn that could not finish, once its session says so; or even where that cannot be stored."""
        try:
            await self._fail(namespace, session_id, session, is_new=is_new)
        except Exception:  # noqa: BLE001 - the client is told of the first fault, not of this one
            _log.exception("A failed search could not be recorded")
        return SearchFailed(failed(session_id, session, budget, error))

    async def _fail(self, namespace: StoredNamespace, session_id: str, session: SessionState, *, is_new: bool) -> None:
        raw = encode_state(session)

        def write() -> None:
            if is_new:
                self._sessions.add(namespace.company_id, namespace.id, session_id, raw, failed=True)
            else:
                self._sessions.fail(session_id)

        # Not among the searches: they may be what hangs.
        await asyncio.to_thread(write)


async def _next(progress: AsyncGenerator[StatusEvent], budget: Budget) -> StatusEvent | None:
    """The next event within the hard deadline. Raises `SearchTimeout`."""
    try:
        async with asyncio.timeout(max(0.0, budget.seconds_to_hard())):
            return await anext(progress, None)
    except TimeoutError as error:
        raise SearchTimeout("The search took longer than it may.") from error


def live(evidence: Sequence[Evidence], bound: BoundRetrieval) -> list[Evidence]:
    """The evidence of earlier turns whose passages still stand in documents that the search may see.

    A document that was deleted or replaced since must not be read again, by a model least of all.
    """
    documents = bound.visible(list(dict.fromkeys(e.passage.passage.document_id for e in evidence)))
    kept: list[Evidence] = []
    for found in evidence:
        passage = found.passage.passage
        value = attribute_value(documents.get(passage.document_id, {}), passage.attribute)
        if value is not None and value[passage.start : passage.end] == passage.text:
            kept.append(found)
    return kept


def settled(session: SessionState, message: str) -> tuple[SessionState, str]:
    """The session with an answered clarification turned into a narrowing, and the message with the option it means."""
    if session.pending is None:
        return session, message
    option = meant(message, tuple(session.pending))
    if option is None:
        return msgspec.structs.replace(session, pending=None), message
    said = message if option.casefold() in message.casefold() else f"{message} ({option})"
    narrowing, held = session.pending[option], session.narrowing
    if narrowing is None:
        return msgspec.structs.replace(session, pending=None), said
    joined = narrowing if held is None else {"$and": [held, narrowing]}
    return msgspec.structs.replace(session, narrowing=joined, pending=None), said


def after(session: SessionState, state: TurnState, result: TurnResult, budget: Budget) -> SessionState:
    """What the session remembers once a turn has ended."""
    asked = result.clarification
    said = asked_back(asked.clarification) if asked else result.synthesis
    return msgspec.structs.replace(
        session,
        turns=(*session.turns, Turn(state.question.message or session.request.objective, said)),
        # Attribute values are read again from the documents as they are then.
        evidence=tuple(bare(found) for found in result.evidence[:MAX_EVIDENCE]),
        executed=(*session.executed, *state.gathering.executed),
        pending=asked.narrowing if asked else None,
        asked=session.asked + (asked is not None),
        scanned=tuple(sorted(state.gathering.scanned)),
        queries_executed=session.queries_executed + budget.queries_run,
        tokens_spent=budget.tokens_spent,
    )


def asked_back(clarification: Clarification) -> str:
    """A question back with its options by number, so that "the second one" can be resolved later."""
    options = "; ".join(f"{number}. {option}" for number, option in enumerate(clarification.options, 1))
    return f"{clarification.question} {options}".strip()


def bare(found: Evidence) -> Evidence:
    """Evidence without the attribute values that were shown with it."""
    passage = found.passage
    ids = tuple(block.id for block in passage.blocks if block.id in found.block_ids)
    return msgspec.structs.replace(
        found,
        passage=msgspec.structs.replace(passage, facts=(), before="", queries=()),
        block_ids=ids or found.block_ids[:1],
    )


def response_of(
    session_id: str, session: SessionState, result: TurnResult, explanation: Explanation | None = None
) -> SearchResponse:
    """What the client gets of a turn that ended well."""
    return SearchResponse(
        session_id=session_id,
        status="clarification_needed" if result.clarification else "completed",
        documents_scanned=len(session.scanned),
        queries_executed=session.queries_executed,
        synthesis=result.synthesis,
        results=result.results,
        clarification_needed=result.clarification.clarification if result.clarification else None,
        explain=explanation,
    )


def failed(session_id: str, session: SessionState, budget: Budget, error: QuarryError) -> SearchResponse:
    """What the client gets of a turn that could not finish."""
    return SearchResponse(
        session_id=session_id,
        status="failed",
        documents_scanned=len(session.scanned),
        queries_executed=session.queries_executed + budget.queries_run,
        error=Failure(error.code, error.message),
    )
