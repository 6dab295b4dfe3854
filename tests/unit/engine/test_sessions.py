"""Continuations of a search, through the engine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from datetime import date
from pathlib import Path

import pytest

import engine
from engine import SessionFailed, SessionNotFound
from engine.agent.bound import BoundRetrieval
from engine.agent.sessions import MAX_STATE, SessionState, decode_state, encode_state
from engine.filters.check import parse_filter
from engine.model.search import SearchRequest
from engine.question.turn import Turn
from engine.storage.sessions import SessionStore
from tests.embedders import HashingEmbedder

SCHEMA = {
    "body": {"type": "string", "is_searchable": True},
    "year": {"type": "int", "is_filterable": True},
}
DOCUMENTS = [
    {"id": "a", "body": "The lantern of Ness was lit in spring by Maria Olsen.", "year": 2022},
    {"id": "b", "body": "The lantern of Ness went out in autumn, said Jon Berg.", "year": 2023},
]


@pytest.fixture
def quarry(tmp_path: Path) -> Generator[engine.Engine]:
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as opened:
        opened.upsert("n", DOCUMENTS, SCHEMA)
        yield opened


def ask(quarry: engine.Engine, **request: object) -> engine.SearchResponse:
    words = {"objective": "Who lit the lantern of Ness?", "context": "A history of the harbour."}
    return quarry.search("n", **words, **request)  # type: ignore[arg-type]


def test_a_continuation_never_returns_a_document_that_was_deleted_since(quarry: engine.Engine) -> None:
    first = ask(quarry)
    assert "a" in {r.id for r in first.results}
    quarry.delete("n", document_ids=["a"])
    later = quarry.continue_search("n", first.session_id, message="Who lit the lantern?")
    assert "a" not in {r.id for r in later.results}
    assert "Olsen" not in later.synthesis


def test_the_filter_of_the_first_request_holds_for_every_turn(quarry: engine.Engine) -> None:
    first = ask(quarry, filters={"year": 2023})
    later = quarry.continue_search("n", first.session_id, message="And who lit the lantern of Ness in 2022?")
    assert {r.id for r in (*first.results, *later.results)} <= {"b"}


def test_counters_add_up_over_a_session(quarry: engine.Engine) -> None:
    first = ask(quarry)
    later = quarry.continue_search("n", first.session_id, message="And who put the lantern out?")
    assert later.session_id == first.session_id
    assert later.queries_executed > first.queries_executed
    assert later.documents_scanned >= first.documents_scanned


def test_a_session_outlives_the_process(tmp_path: Path) -> None:
    with engine.open(tmp_path / "d", embedder=HashingEmbedder(), agent="offline") as quarry:
        quarry.upsert("n", DOCUMENTS, SCHEMA)
        session = ask(quarry).session_id
    with engine.open(tmp_path / "d", embedder=HashingEmbedder(), agent="offline") as quarry:
        assert quarry.continue_search("n", session, message="Who put it out?").status == "completed"


def test_a_session_belongs_to_its_company_and_namespace(quarry: engine.Engine) -> None:
    session = ask(quarry).session_id
    quarry.upsert("other", DOCUMENTS, SCHEMA)
    other = quarry.for_company("acme")
    other.upsert("n", DOCUMENTS, SCHEMA)
    for stranger, namespace in ((quarry, "other"), (other, "n")):
        with pytest.raises(SessionNotFound):
            stranger.continue_search(namespace, session, message="Who lit it?")


def test_include_attributes_can_be_asked_for_in_a_later_turn(quarry: engine.Engine) -> None:
    first = ask(quarry)
    assert all(r.attributes is None for r in first.results)
    later = quarry.continue_search("n", first.session_id, message="Who lit the lantern?", include_attributes=True)
    assert later.results
    assert all(r.attributes in DOCUMENTS for r in later.results)


def test_a_plan_never_sees_values_that_the_filter_hides(quarry: engine.Engine) -> None:
    core, record = quarry._core, quarry.namespace("n")
    where = parse_filter({"year": {"$gt": 2022}}, record.schema)
    bound = BoundRetrieval(core.retriever, core.backend, record, where, lambda: date(2024, 1, 1))
    assert {held.attribute: held.values for held in bound.corpus().values} == {"year": ((2023, 1),)}


def test_a_filter_with_a_number_beyond_64_bits_is_searched_and_continued(quarry: engine.Engine) -> None:
    where = {"year": {"$lt": 10**25}}
    first = ask(quarry, filters=where)
    assert first.status == "completed"
    again = quarry.continue_search("n", first.session_id, message="And who put it out?")
    assert again.status == "completed"


def test_a_fault_of_ours_ends_the_search_as_failed(quarry: engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("engine.agent.offline.write.written", broken)
    response = ask(quarry)
    assert (response.status, response.error and response.error.code) == ("failed", "internal_error")
    with pytest.raises(SessionFailed):
        quarry.continue_search("n", response.session_id, message="And now?")


def test_a_cancelled_turn_gives_its_session_back_and_keeps_the_loop_free(
    quarry: engine.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = ask(quarry).session_id
    released_by: list[threading.Thread] = []
    original = SessionStore.release

    def release(self: SessionStore, session_id: str) -> None:
        released_by.append(threading.current_thread())
        original(self, session_id)

    monkeypatch.setattr(SessionStore, "release", release)

    async def cancelled() -> None:
        events = await quarry.continue_stream("n", session_id, message="And who put it out?")
        await anext(events)
        await events.aclose()

    asyncio.run(cancelled())
    assert len(released_by) == 1
    assert threading.main_thread() not in released_by
    assert quarry.continue_search("n", session_id, message="And who put it out?").status == "completed"


def test_the_state_of_a_session_is_bounded_and_keeps_what_was_asked_and_said_last() -> None:
    request = SearchRequest(objective="Who lit the lantern?", context="A history.", multiturn=True)
    turns = tuple(Turn(f"And in year {n}?", "It was lit. " * 2_000) for n in range(300))
    long = SessionState(request=request, turns=turns, scanned=tuple(f"document-{n}" for n in range(200_000)))
    raw = encode_state(long)
    assert len(raw) <= MAX_STATE
    kept = decode_state(raw)
    assert (kept.request, kept.turns[-1]) == (request, turns[-1])
