"""Rows of the contract that were added after trials with clients."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import engine
from tests.api.conftest import ARTICLES, SCHEMA
from tests.api.rows import row
from tests.api.serving import Api, ProcessServer, ThreadServer, error_of, error_path, wait_until

QUESTION = "For how many hours do cats sleep a day?"
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadServer]:
    """A server with one origin and a folder for backups."""
    folder = tmp_path_factory.mktemp("backups")
    with ThreadServer(backups=folder / "made", cors_origins=("https://app.example",)) as server:
        yield server


@pytest.fixture(scope="module")
def alone(own: ThreadServer) -> Iterator[Api]:
    with Api(own.url) as api:
        api.upload("articles", *ARTICLES, schema=SCHEMA)
        yield api


@row("Added after trials: `GET /v1/whoami` (any key)")
def test_any_key_learns_whose_it_is(api: Api, tmp_path: Path) -> None:
    assert api.get("/v1/whoami").json() == {"organizationId": "1", "organizationName": "default"}
    for scope in ("read", "search", "write"):
        assert api.with_key(api.new_key(scopes=[scope])).get("/v1/whoami").status_code == 200
    assert error_of(api.with_key(None).get("/v1/whoami")) == (401, "unauthenticated")


USAGE = "Added after trials: `GET /v1/usage_events?limit=1..100&before=N` (scope `read`)"


@row(USAGE)
def test_usage_tells_what_the_company_asked_newest_first(own: ThreadServer, alone: Api) -> None:
    first = alone.search("articles", QUESTION).headers["X-Request-Id"]
    streamed = alone.search("articles", QUESTION, stream=True).headers["X-Request-Id"]
    alone.search("articles", "")
    alone.get("/v1/namespaces/articles/documents/cats")
    # The answer goes out before its request is noted.
    wait_until(lambda: streamed in {e["request_id"] for e in alone.get("/v1/usage_events").json()["results"]})
    page = alone.get("/v1/usage_events", params={"limit": 2}).json()
    assert [event["request_id"] for event in page["results"]] == [streamed, first]
    for event in page["results"]:
        assert sorted(event) == ["duration_ms", "event_type", "namespace", "occurred_at", "request_id", "search"]
        assert (event["event_type"], event["namespace"]) == ("search", "articles")
        assert re.fullmatch(MOMENT, event["occurred_at"])
        assert event["duration_ms"] > 0
        assert event["search"]["request"] == {"objective": QUESTION, "context": "A question of a test."}
        assert event["search"]["response"]["result_count"] >= 1
    assert alone.get(f"/v1/usage_events/{first}").json() == page["results"][1]
    rest = alone.get("/v1/usage_events", params={"limit": 100, "before": page["next_cursor"]}).json()
    assert [(e["event_type"], "search" in e) for e in rest["results"]] == [("upload_documents", False)]
    assert rest["next_cursor"] is None
    assert error_of(alone.get("/v1/usage_events/req_unheard0")) == (404, "not_found")


@row(USAGE)
def test_usage_is_of_the_company_alone_and_cannot_be_asked_for_without_end(own: ThreadServer, alone: Api) -> None:
    request_id = alone.search("articles", QUESTION).headers["X-Request-Id"]
    _, raw = own.service.engine.for_company("other").keys.create("reader", scopes=["read"])
    other = alone.with_key(raw)
    assert other.get("/v1/usage_events").json() == {"results": [], "next_cursor": None}
    assert error_of(other.get(f"/v1/usage_events/{request_id}")) == (404, "not_found")
    for params in ({"limit": "0"}, {"limit": "101"}, {"limit": "x"}, {"before": "-1"}, {"before": "x"}):
        assert error_of(alone.get("/v1/usage_events", params=params)) == (400, "invalid_request")


@row(USAGE)
def test_usage_outlives_a_restart_and_is_never_in_the_log(tmp_path: Path) -> None:
    with ProcessServer(tmp_path) as server, Api(server.url) as api:
        api.upload("n", {"id": "a", "text": "Cats sleep."})
        api.search("n", "What about Kinkajoucanary?")
        assert server.stop() == 0
        server.start()
        with Api(server.url) as again:
            events = again.get("/v1/usage_events").json()["results"]
            assert [event["event_type"] for event in events] == ["search", "upload_documents"]
            assert events[0]["search"]["request"]["objective"] == "What about Kinkajoucanary?"
    assert "Kinkajoucanary" not in server.log.read_text()
    assert (tmp_path / "data" / "usage.sqlite").stat().st_mode & 0o077 == 0


@row(USAGE)
def test_no_days_keep_no_usage(tmp_path: Path) -> None:
    with ThreadServer(usage_days=0, data=tmp_path / "data") as server, Api(server.url) as api:
        api.upload("n", {"id": "a", "text": "Cats sleep."})
        api.search("n")
        assert api.get("/v1/usage_events").json() == {"results": [], "next_cursor": None}
    assert not (tmp_path / "data" / "usage.sqlite").exists()


@row("Added after trials: Namespace statistics")
def test_statistics_carry_id_and_times(api: Api, articles: str) -> None:
    shown = api.get(f"/v1/namespaces/{articles}").json()
    stats = next(s for s in api.get("/v1/namespaces/stats").json()["results"] if s["name"] == articles)
    assert {field: stats[field] for field in ("id", "created_at", "updated_at")} == {
        field: shown[field] for field in ("id", "created_at", "updated_at")
    }


@row("Added after trials: Preflight")
def test_a_listed_origin_may_send_the_headers_that_it_asks_for(own: ThreadServer) -> None:
    url = f"{own.url}/v1/namespaces/articles/search"
    asked = "authorization,content-type,x-client-lang,x-client-retry-count"
    ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": asked}
    answer = httpx.options(url, headers=ask | {"Origin": "https://app.example"})
    assert (answer.status_code, answer.headers["Access-Control-Allow-Headers"]) == (204, asked)
    exposed = {name.strip().lower() for name in answer.headers["Access-Control-Expose-Headers"].split(",")}
    assert exposed >= {"x-should-retry", "retry-after", "x-request-id"}
    strange = httpx.options(url, headers=ask | {"Origin": "https://evil.example"})
    assert not any(name.startswith("access-control") for name in strange.headers)
    broken = ask | {"Origin": "https://app.example", "Access-Control-Request-Headers": "x y;<script>"}
    assert "<" not in httpx.options(url, headers=broken).headers["Access-Control-Allow-Headers"]


@row("Added after trials: SSE")
def test_what_readers_of_lines_take_for_an_end_is_escaped(api: Api, fresh: str) -> None:
    text = "Cats sleep for thirteen hours\u2028 a day\u2029 or\u0085 so."
    api.upload(fresh, {"id": "a", "text": text})
    answer = api.search(fresh, QUESTION, stream=True, include_attributes=True)
    for end in ("\u2028", "\u2029", "\u0085"):
        assert end not in answer.text
    data = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert json.loads(data[-1])["results"][0]["attributes"]["text"] == text


@row(
    "Added after trials: `null` beside `$contains`, `$not_contains`, in the lists of `$contains_any`, `$contains_all`, "
    "`$not_contains_any`"
)
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"$contains": None}, set()),
        ({"$not_contains": None}, {"cats", "dogs", "moon"}),
        ({"$contains_any": [None, "sleep"]}, {"cats"}),
        ({"$contains_all": [None, "sleep"]}, set()),
        ({"$not_contains_any": ["sleep", None]}, {"dogs", "moon"}),
    ],
)
def test_no_list_holds_null(api: Api, articles: str, condition: Any, found: set[str]) -> None:
    listed = api.post(f"/v1/namespaces/{articles}/documents/list", json={"filters": {"tags": condition}})
    assert {document["id"] for document in listed.json()["documents"]} == found


@row('Added after trials: `{"attribute": {}}`')
def test_a_condition_without_an_operator_is_refused(api: Api, articles: str) -> None:
    answer = api.search(articles, filters={"source": {}})
    assert (error_of(answer), error_path(answer)) == ((400, "invalid_filter"), "filters.source")


@row("Added after trials: Document ids `.` and `..`")
def test_ids_that_clients_resolve_in_a_path_are_refused(api: Api, fresh: str) -> None:
    for name in (".", ".."):
        answer = api.upload(fresh, {"id": "fine"}, {"id": name})
        assert (error_of(answer), error_path(answer)) == ((400, "invalid_document"), "documents[1].id")


@row("Added after trials: An empty `session_id` or document id in a path")
def test_an_empty_id_names_nothing(api: Api, articles: str) -> None:
    url = f"/v1/namespaces/{articles}"
    for body in ({"message": "x"}, {"objective": QUESTION, "context": "x"}):
        assert error_of(api.post(f"{url}/search/", json=body)) == (404, "session_not_found")
    assert error_of(api.get(f"{url}/documents/")) == (404, "document_not_found")


@row("Added after trials: Continuation `message`")
def test_a_message_is_as_long_as_an_objective_at_most(api: Api, articles: str) -> None:
    url = f"/v1/namespaces/{articles}/search/{api.search(articles, QUESTION).json()['session_id']}"
    assert error_of(api.post(url, json={"message": "x" * 2_001})) == (400, "invalid_request")
    assert api.post(url, json={"message": "And dogs? ".ljust(2_000, "x")}).status_code == 200


@row("Added after trials: An unknown operator in a filter for an unknown namespace")
def test_the_namespace_is_looked_up_before_its_filter_is_read(api: Api) -> None:
    body = {"filters": {"x": {"$what": 1}}}
    assert error_of(api.search("nowhere", **body)) == (404, "namespace_not_found")
    for route in ("documents/list", "retrieve"):
        answer = api.post(f"/v1/namespaces/nowhere/{route}", json=body | ({"text": "x"} if route == "retrieve" else {}))
        assert error_of(answer) == (404, "namespace_not_found")


@row("Added after trials: Passages over HTTP")
def test_passages_come_with_their_place_and_scores(api: Api, articles: str) -> None:
    url = f"/v1/namespaces/{articles}/retrieve"
    hits = api.post(url, json={"text": "How long do cats sleep?"}).json()["hits"]
    assert hits[0]["document_id"] == "cats"
    held = {document["id"]: document for document in ARTICLES}
    for hit in hits:
        assert sorted(hit) == [
            "attribute", "document_id", "end", "lexical_score", "score", "start", "text", "vector_score",
        ]  # fmt: skip
        assert held[hit["document_id"]][hit["attribute"]][hit["start"] : hit["end"]] == hit["text"]
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    lexical = api.post(url, json={"text": "cats", "mode": "lexical"}).json()["hits"]
    assert {hit["vector_score"] for hit in lexical} == {0.0}
    one = api.post(url, json={"text": "cats", "k": 1, "filters": {"year": 2022}, "include_attributes": True})
    assert [hit["attributes"] for hit in one.json()["hits"]] == [held["dogs"]]


@row("Added after trials: Passages over HTTP")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_request"),
        ({"text": " "}, "invalid_request"),
        ({"text": "x", "k": 0}, "invalid_request"),
        ({"text": "x", "k": 1_001}, "invalid_request"),
        ({"text": "x", "mode": "fuzzy"}, "invalid_request"),
        ({"text": "x", "filters": {"unheard": 1}}, "unknown_attribute"),
    ],
)
def test_a_retrieval_that_cannot_be_is_refused(api: Api, articles: str, body: dict[str, Any], code: str) -> None:
    assert error_of(api.post(f"/v1/namespaces/{articles}/retrieve", json=body)) == (400, code)


@row("Added after trials: Documents, paged")
def test_documents_are_listed_in_the_order_of_upload_while_others_come_and_go(api: Api, fresh: str) -> None:
    documents = [{"id": f"d{n}", "n": n, "nested": {"n": [n]}} for n in range(7)]
    api.upload(fresh, *documents, schema={"n": {"type": "int", "is_filterable": True}})
    url = f"/v1/namespaces/{fresh}/documents"
    assert api.get(url).json() == {"documents": documents, "next_cursor": None}
    first = api.get(url, params={"limit": 3}).json()
    assert first["documents"] == documents[:3]
    api.post(f"{url}/delete", json={"document_ids": ["d1", "d2", "d5"]})
    api.upload(fresh, {"id": "late"})
    rest = api.get(url, params={"limit": 1_000, "cursor": first["next_cursor"]}).json()
    assert [document["id"] for document in rest["documents"]] == ["d3", "d4", "d6", "late"]
    body = {"filters": {"n": {"$gte": 3}}, "limit": 2}
    even = api.post(f"{url}/list", json=body).json()
    last = api.post(f"{url}/list", json=body | {"cursor": even["next_cursor"]}).json()
    assert [d["id"] for page in (even, last) for d in page["documents"]] == ["d3", "d4", "d6"]
    assert last["next_cursor"] is None
    # To GET, `list` is an id like any other.
    assert error_of(api.get(f"{url}/list")) == (404, "document_not_found")


@row("Added after trials: Documents, paged")
def test_a_page_of_documents_that_cannot_be_is_refused(api: Api, articles: str) -> None:
    url = f"/v1/namespaces/{articles}/documents"
    for params in ({"limit": "0"}, {"limit": "1001"}, {"limit": ""}, {"cursor": "%%"}, {"cursor": ""}):
        assert error_of(api.get(url, params=params)) == (400, "invalid_request")
    for body in ({"limit": 0}, {"limit": 1_001}, {"cursor": "x"}):
        assert error_of(api.post(f"{url}/list", json=body)) == (400, "invalid_request")
    assert error_of(api.post(f"{url}/list", json={"filters": {"unheard": 1}})) == (400, "unknown_attribute")
    assert error_of(api.get("/v1/namespaces/nowhere/documents")) == (404, "namespace_not_found")


@row("Added after trials: Backup of a running server")
def test_a_running_server_is_backed_up_and_the_copy_opens(own: ThreadServer, alone: Api) -> None:
    answer = alone.post("/v1/admin/backup")
    made = answer.json()
    assert (answer.status_code, sorted(made)) == (200, ["bytes", "name", "namespaces"])
    folder = own.service.settings.backups
    assert folder is not None
    assert made["namespaces"] == len(alone.get("/v1/namespaces").json()["results"])
    assert made["bytes"] == sum(file.stat().st_size for file in (folder / made["name"]).rglob("*") if file.is_file())
    with engine.open(folder / made["name"], agent="offline") as copy:
        assert copy.get("articles", "cats") == ARTICLES[0]


@row("Added after trials: Backup of a running server")
def test_only_the_operator_backs_up_and_only_where_there_is_a_folder(api: Api, own: ThreadServer, alone: Api) -> None:
    assert error_of(api.post("/v1/admin/backup")) == (400, "invalid_request")
    _, raw = own.service.engine.for_company("other").keys.create("admin", scopes=["admin"])
    assert error_of(alone.with_key(raw).post("/v1/admin/backup")) == (403, "permission_denied")


@row("Added after trials: Unknown top-level fields")
def test_a_misspelt_field_is_named_and_a_strange_one_is_ignored_aloud(api: Api, articles: str, fresh: str) -> None:
    misspelt = api.search(articles, filter={"year": 2021})
    assert (error_of(misspelt), error_path(misspelt)) == ((400, "invalid_request"), "filter")
    assert "did you mean `filters`" in misspelt.json()["error"]["message"]
    body = {"documents": [{"id": "a"}], "shema": {}}
    refused = api.post(f"/v1/namespaces/{fresh}/documents", json=body)
    assert (error_of(refused), error_path(refused)) == ((400, "invalid_request"), "shema")
    assert error_of(api.get(f"/v1/namespaces/{fresh}")) == (404, "namespace_not_found")
    taken = api.search(articles, QUESTION, **{"unheard": 1, "über\r\nX: y": 2})
    assert (taken.status_code, taken.headers["X-Quarry-Ignored"]) == (200, "unheard, %C3%BCber%0D%0AX%3A y")
    assert "X-Quarry-Ignored" not in api.search(articles, QUESTION).headers


@row("Added after trials: A namespace that cannot be opened")
def test_a_damaged_namespace_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    with ProcessServer(tmp_path) as server, Api(server.url) as api:
        for name in ("good", "bad"):
            api.upload(name, {"id": "a", "text": "Cats sleep."})
        number = api.get("/v1/namespaces/bad").json()["id"]
        assert server.stop() == 0
        database = tmp_path / "data" / "namespaces" / str(number) / "documents.duckdb"
        database.write_bytes(b"\0" * database.stat().st_size)
        server.start()
        with Api(server.url) as again:
            for answer in (
                again.search("bad"),
                again.search("bad", stream=True),
                again.get("/v1/namespaces/bad/documents/a"),
                again.get("/v1/namespaces/bad/documents"),
                again.post("/v1/namespaces/bad/retrieve", json={"text": "x"}),
                again.upload("bad", {"id": "b"}),
            ):
                assert error_of(answer) == (503, "storage_error")
                assert "Retry-After" in answer.headers
            assert again.search("good").json()["status"] == "completed"
            assert {n["name"] for n in again.get("/v1/namespaces").json()["results"]} == {"good", "bad"}
            stats = again.get("/v1/namespaces/stats").json()
            assert ([s["name"] for s in stats["results"]], stats["unavailable"]) == (["good"], ["bad"])
            metrics = again.get("/metrics").text
            assert 'quarry_namespace_unavailable{company="default",namespace="bad"} 1.0' in metrics
            assert "quarry_namespaces 2.0" in metrics
            assert "quarry_namespaces_unavailable 1.0" in metrics
