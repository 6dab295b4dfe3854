"""Rows of the specification itself: each field of each resource, as a client meets it; each endpoint; each limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.api.conftest import ARTICLES
from tests.api.rows import row
from tests.api.serving import Api, error_of

QUESTION = {"objective": "For how many hours do cats sleep a day?", "context": "A question of a test."}
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@dataclass
class Seen:
    """What a client got for the requests of the specification.

    Attributes:
        namespace: as the list of namespaces shows it.
        answer: of a search with `include_attributes`.
        events: of the same search as a stream.
    """

    api: Api
    namespace: dict[str, Any]
    answer: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]

    @property
    def attribute(self) -> dict[str, Any]:
        return self.namespace["attributes_schema"]["source"]

    @property
    def result(self) -> dict[str, Any]:
        return self.answer["results"][0]

    def search(self, **body: Any) -> Any:
        """A search with fields of the test's own; None leaves a field out."""
        asked = {name: value for name, value in {**QUESTION, **body}.items() if value is not None}
        return self.api.post("/v1/namespaces/articles/search", json=asked)


@pytest.fixture(scope="module")
def seen(api: Api, articles: str) -> Seen:
    listed = api.get("/v1/namespaces").json()
    url = f"/v1/namespaces/{articles}/search"
    return Seen(
        api,
        next(namespace for namespace in listed["results"] if namespace["name"] == articles),
        api.post(url, json={**QUESTION, "include_attributes": True}).json(),
        api.events(url, QUESTION),
    )


def is_count(value: object) -> bool:
    return type(value) is int and value > 0


def needed(field: str) -> Callable[[Seen], bool]:
    return lambda seen: error_of(seen.search(**{field: None})) == (400, "invalid_request")


SHOWN: list[tuple[str, Callable[[Seen], bool]]] = [
    ("Namespace: id", lambda seen: is_count(seen.namespace["id"])),
    ("Namespace: name", lambda seen: seen.namespace["name"] == "articles"),
    ("Namespace: company_id", lambda seen: seen.namespace["company_id"] == 1),
    ("Namespace: company_name", lambda seen: seen.namespace["company_name"] == "default"),
    ("Namespace: created_at", lambda seen: bool(re.fullmatch(MOMENT, seen.namespace["created_at"]))),
    ("Namespace: updated_at", lambda seen: bool(re.fullmatch(MOMENT, seen.namespace["updated_at"]))),
    ("Namespace: attributes_schema", lambda seen: {"title", "source"} <= set(seen.namespace["attributes_schema"])),
    ("Attribute definition (entry of attributes_schema): type", lambda seen: seen.attribute["type"] == "string"),
    (
        "Attribute definition (entry of attributes_schema): is_searchable",
        lambda seen: seen.attribute["is_searchable"] is False,
    ),
    (
        "Attribute definition (entry of attributes_schema): is_filterable",
        lambda seen: seen.attribute["is_filterable"] is True,
    ),
    ("Search request: objective", needed("objective")),
    ("Search request: context", needed("context")),
    (
        "Search request: stream",
        lambda seen: seen.search(stream=True).headers["Content-Type"].startswith("text/event-stream"),
    ),
    (
        "Search request: filters",
        lambda seen: all(
            {result["id"] for result in seen.search(filters=filters).json()["results"]} == {"cats"}
            for filters in (
                {"year": 2021},
                {"year": {"$in": [2021]}},
                {"$and": [{"source": "Almanac"}, {"year": {"$in": [2021, 2022]}}]},
            )
        ),
    ),
    (
        "Search request: include_attributes",
        lambda seen: all("attributes" not in result for result in seen.search().json()["results"]),
    ),
    (
        "Search request: multiturn",
        lambda seen: seen.search(multiturn=True).json()["status"] in {"completed", "clarification_needed"},
    ),
    (
        "Search response (session): session_id",
        lambda seen: seen.search().json()["session_id"] != seen.answer["session_id"],
    ),
    ("Search response (session): status", lambda seen: seen.answer["status"] == "completed"),
    ("Search response (session): documents_scanned", lambda seen: is_count(seen.answer["documents_scanned"])),
    ("Search response (session): queries_executed", lambda seen: is_count(seen.answer["queries_executed"])),
    ("Search response (session): synthesis", lambda seen: "[1]" in seen.answer["synthesis"]),
    ("Search response (session): results", lambda seen: len(seen.answer["results"]) >= 1),
    ("Result: finding", lambda seen: bool(seen.result["finding"].strip())),
    ("Result: id", lambda seen: seen.result["id"] in {document["id"] for document in ARTICLES}),
    (
        "Result: excerpts",
        lambda seen: all(
            any(excerpt in str(value) for value in seen.result["attributes"].values())
            for excerpt in seen.result["excerpts"]
        ),
    ),
    (
        "Result: attributes",
        lambda seen: seen.result["attributes"] == next(d for d in ARTICLES if d["id"] == seen.result["id"]),
    ),
    (
        "Events: status",
        lambda seen: all(isinstance(body["message"], str) for name, body in seen.events if name == "status"),
    ),
    (
        "Events: session_result",
        lambda seen: (
            [name for name, _ in seen.events if name != "status"] == ["session_result"]
            and set(seen.events[-1][1]) - {"type"} == set(seen.answer)
        ),
    ),
    (
        "Endpoints: GET /v1/namespaces",
        lambda seen: list(seen.api.get("/v1/namespaces").json()) == ["results"],
    ),
    (
        "Endpoints: GET /v1/namespaces/{namespace}/documents/{document_id}",
        lambda seen: seen.api.get("/v1/namespaces/articles/documents/cats").json() == ARTICLES[0],
    ),
    (
        "Endpoints: POST /v1/namespaces/{namespace}/search/{session_id}",
        lambda seen: (
            sorted(
                seen.api.post(
                    f"/v1/namespaces/articles/search/{seen.answer['session_id']}", json={"message": "And dogs?"}
                ).json()
            )
            == sorted(seen.answer)
        ),
    ),
    ("Endpoints: POST /v1/namespaces/{namespace}/search", lambda seen: seen.search().status_code == 200),
]


@pytest.mark.parametrize(
    ("row", "holds"), [pytest.param(f"Interface: {name}", check, id=name) for name, check in SHOWN], indirect=["row"]
)
def test_a_client_meets_what_the_specification_shows(seen: Seen, row: str, holds: Callable[[Seen], bool]) -> None:
    assert holds(seen)


@row(
    "Interface: Endpoints: POST /v1/namespaces/{namespace}/documents",
    "Interface: Endpoints: DELETE /v1/namespaces/{namespace}/documents",
)
def test_documents_are_stored_replaced_and_deleted(api: Api, fresh: str) -> None:
    url = f"/v1/namespaces/{fresh}/documents"
    assert api.upload(fresh, {"id": "a", "n": 1}, {"id": "b", "n": 1}).status_code == 200
    assert api.upload(fresh, {"id": "a", "n": 2}).status_code == 200
    assert api.get(f"{url}/a").json() == {"id": "a", "n": 2}
    assert api.request("DELETE", url, json={"document_ids": ["a"]}).json() == {"documents_deleted": 1}
    assert error_of(api.get(f"{url}/a")) == (404, "document_not_found")
    assert api.request("DELETE", url, json={"root_document_ids": ["b"]}).json() == {"documents_deleted": 1}


@row(
    "Interface: Limits: Namespace name length",
    "Interface: Limits: Namespace name characters",
    "Interface: Limits: Document id",
)
def test_names_and_ids_at_their_limits_are_taken_and_beyond_them_refused(api: Api) -> None:
    name = "Az09-_." + "x" * 121
    document = {"id": "é" * 64}
    assert api.upload(name, document, {"id": "6f1c2a34-0b5d-4e6f-8a9b-0c1d2e3f4a5b"}).status_code == 200
    assert error_of(api.upload(name + "x", document)) == (400, "invalid_request")
    assert error_of(api.upload("a b", document)) == (400, "invalid_request")
    assert error_of(api.upload(name, {"id": "é" * 65})) == (400, "invalid_document")
    assert api.delete(f"/v1/namespaces/{name}").json() == {"deleted": True}
