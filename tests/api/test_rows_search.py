"""Rows of the decisions: search and sessions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.api.conftest import ARTICLES
from tests.api.rows import row
from tests.api.serving import Api, ThreadServer, error_of, error_path

FIELDS = ["documents_scanned", "queries_executed", "results", "session_id", "status", "synthesis"]


@row("Search and sessions: Flags")
@pytest.mark.parametrize("flag", ["stream", "include_attributes", "multiturn"])
def test_flags_are_off_and_strictly_boolean(api: Api, articles: str, flag: str) -> None:
    answer = api.search(articles)
    assert answer.headers["Content-Type"] == "application/json"
    assert all("attributes" not in result for result in answer.json()["results"])
    for value in ("true", 1, None):
        refused = api.search(articles, **{flag: value})
        assert error_of(refused) == (400, "invalid_request")
        assert error_path(refused) == flag


@row("Search and sessions: Flags")
def test_attributes_are_the_whole_document_when_asked_for(api: Api, articles: str) -> None:
    results = api.search(articles, include_attributes=True).json()["results"]
    documents = {document["id"]: document for document in ARTICLES}
    assert results
    assert all(result["attributes"] == documents[result["id"]] for result in results)


@row("Search and sessions: `objective`, `context`")
@pytest.mark.parametrize(
    "body",
    [
        {"objective": " \n"},
        {"objective": ""},
        {"context": "\t"},
        {"objective": "x" * 2_001},
        {"context": "x" * 50_001},
        {"objective": None},
        {"context": 5},
        {"filters": []},
    ],
)
def test_texts_must_be_there_and_not_too_long(api: Api, articles: str, body: dict[str, Any]) -> None:
    asked = {"objective": "cats", "context": "a test", **body}
    answer = api.post(f"/v1/namespaces/{articles}/search", json=asked)
    assert error_of(answer) == (400, "invalid_request")
    assert error_path(answer) == next(iter(body))


@row("Search and sessions: `objective`, `context`")
def test_texts_at_their_limits_are_taken(api: Api, articles: str) -> None:
    body = {"objective": ("cats " * 400)[:2_000], "context": ("cats " * 10_000)[:50_000], "unheard_of": 1}
    assert api.post(f"/v1/namespaces/{articles}/search", json=body).status_code == 200


@row("Search and sessions: `session_id`", "Search and sessions: Fields")
def test_a_response_has_exactly_its_six_fields(api: Api, articles: str) -> None:
    answer = api.search(articles).json()
    assert sorted(answer) == FIELDS
    assert answer["status"] == "completed"
    assert re.fullmatch(r"sess_[A-Za-z0-9_-]{22}", answer["session_id"])
    for result in answer["results"]:
        assert sorted(result) == ["excerpts", "finding", "id"]


@row("Search and sessions: `failed`", "Interface: Events: error")
def test_a_search_that_cannot_finish_has_failed() -> None:
    with ThreadServer(soft_seconds=0.0, hard_seconds=0.0) as server, Api(server.url) as api:
        api.upload("n", *ARTICLES)
        answer = api.search("n")
        assert answer.status_code == 200
        body = answer.json()
        assert sorted(body) == sorted([*FIELDS, "error"])
        assert (body["status"], body["results"], body["synthesis"]) == ("failed", [], "")
        assert body["error"]["code"] == "search_timeout"
        assert body["error"]["message"]
        events = api.events("/v1/namespaces/n/search", {"objective": "cats", "context": "a test"})
        assert [name for name, _ in events if name != "status"] == ["error"]
        last = events[-1][1]
        assert (last["type"], last["code"]) == ("error", "search_timeout")
        assert sorted(last) == ["code", "details", "message", "request_id", "type"]
        # A failed session cannot be continued, and clients are told not to try again.
        refused = api.post(f"/v1/namespaces/n/search/{body['session_id']}", json={"message": "go on"})
        assert error_of(refused) == (409, "session_failed")
        assert refused.headers["x-should-retry"] == "false"


@row("Search and sessions: Nothing found")
def test_nothing_found_is_a_completed_search(api: Api, articles: str) -> None:
    answer = api.search(articles, filters={"year": 1900}).json()
    assert (answer["status"], answer["results"]) == ("completed", [])
    assert answer["synthesis"]


@row("Search and sessions: Counters")
def test_counters_add_up_over_a_session(api: Api, articles: str) -> None:
    first = api.search(articles).json()
    assert 1 <= first["documents_scanned"] <= 3
    assert first["queries_executed"] >= 1
    url = f"/v1/namespaces/{articles}/search/{first['session_id']}"
    second = api.post(url, json={"message": "And what about dogs?"}).json()
    assert second["session_id"] == first["session_id"]
    assert first["documents_scanned"] <= second["documents_scanned"] <= 3
    assert second["queries_executed"] > first["queries_executed"]


@row("Search and sessions: Results", "Search and sessions: Citations")
def test_excerpts_are_verbatim_and_every_result_is_cited(api: Api, articles: str) -> None:
    answer = api.search(articles, objective="How long do cats sleep, and what goes around the earth?").json()
    documents = {document["id"]: document for document in ARTICLES}
    assert 1 <= len(answer["results"]) <= 20
    for result in answer["results"]:
        assert 1 <= len(result["excerpts"]) <= 5
        values = [value for value in documents[result["id"]].values() if isinstance(value, str)]
        for excerpt in result["excerpts"]:
            assert 1 <= len(excerpt) <= 1_000
            assert any(excerpt in value for value in values)
    markers = {int(number) for number in re.findall(r"\[(\d+)\]", answer["synthesis"])}
    assert markers == set(range(1, len(answer["results"]) + 1))


@row("Search and sessions: Stream and not")
def test_stream_and_plain_answer_end_in_the_same_object(api: Api, articles: str) -> None:
    body = {"objective": "For how many hours do cats sleep a day?", "context": "a test", "include_attributes": True}
    plain = api.post(f"/v1/namespaces/{articles}/search", json=body).json()
    name, data = api.events(f"/v1/namespaces/{articles}/search", body)[-1]
    assert name == data.pop("type") == "session_result"
    for answer in (plain, data):
        answer.pop("session_id")
    assert data == plain


@row("Search and sessions: Continuation")
def test_a_completed_session_goes_on_under_its_filters(api: Api, articles: str) -> None:
    first = api.search(articles, filters={"source": "Almanac"}, include_attributes=True).json()
    url = f"/v1/namespaces/{articles}/search/{first['session_id']}"
    second = api.post(url, json={"message": "What do dogs do at strangers?"}).json()
    assert sorted(second) == FIELDS
    # The only document on dogs comes from the other source.
    assert all(result["attributes"]["source"] == "Almanac" for result in second["results"])
    third = api.post(
        url, json={"message": "For how many hours do cats sleep a day?", "include_attributes": False}
    ).json()
    assert third["results"]
    assert all("attributes" not in result for result in third["results"])
    events = api.events(url, {"message": "And the moon?", "include_attributes": True})
    assert events[-1][0] == "session_result"
    assert all("attributes" in result for result in events[-1][1]["results"])


@row("Search and sessions: Continuation")
@pytest.mark.parametrize("body", [{}, {"message": ""}, {"message": "  "}, {"message": 5}, {"message": "x" * 2_001}])
def test_a_continuation_needs_a_message(api: Api, articles: str, body: dict[str, Any]) -> None:
    session = api.search(articles).json()["session_id"]
    answer = api.post(f"/v1/namespaces/{articles}/search/{session}", json=body)
    assert error_of(answer) == (400, "invalid_request")
    assert error_path(answer) == "message"


@row("Search and sessions: Unknown, or another company's or namespace's session")
def test_a_session_belongs_to_its_namespace(api: Api, articles: str, fresh: str) -> None:
    session = api.search(articles).json()["session_id"]
    api.upload(fresh, {"id": "a"})
    body = {"message": "go on"}
    missing = (404, "session_not_found")
    for url in (f"{fresh}/search/{session}", f"{articles}/search/sess_{'x' * 22}", f"{articles}/search/%00"):
        assert error_of(api.post(f"/v1/namespaces/{url}", json=body)) == missing
        # Also before a stream begins.
        assert error_of(api.post(f"/v1/namespaces/{url}", json={**body, "stream": True})) == missing


@row("Search and sessions: Deadline")
def test_the_deadlines_are_settings_and_below_a_minute() -> None:
    from api.settings import Settings

    budget = Settings().engine_settings().budget
    assert (budget.soft_seconds, budget.hard_seconds) == (45.0, 55.0)
