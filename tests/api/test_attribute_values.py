"""The values of an attribute with their counts, and what a key is told of the server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Api, error_of


def values(api: Api, attribute: str, **query: Any) -> list[tuple[Any, int]]:
    answer = api.get(f"/v1/namespaces/articles/attributes/{attribute}/values", params=query)
    assert answer.status_code == 200, answer.text
    return [(entry["value"], entry["document_count"]) for entry in answer.json()["values"]]


def test_values_come_with_their_counts_the_most_frequent_first(api: Api, articles: str) -> None:
    assert values(api, "source") == [("Almanac", 2), ("Gazette", 1)]


def test_each_element_of_a_list_counts_once_a_document(api: Api, articles: str) -> None:
    assert values(api, "tags") == [("animals", 2), ("sleep", 1)]


def test_datetimes_are_written_as_filters_take_them(api: Api, articles: str) -> None:
    found = values(api, "published")
    assert ("2023-05-01T10:00:00Z", 1) in found
    assert api.found(articles, {"published": found[0][0]}) != set()


def test_values_can_be_searched_and_limited(api: Api, articles: str) -> None:
    assert values(api, "source", containing="gaz") == [("Gazette", 1)]
    assert values(api, "source", limit=1) == [("Almanac", 2)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("articles/attributes/nothing/values", (400, "unknown_attribute")),
        ("articles/attributes/text/values", (400, "attribute_not_filterable")),
        ("nowhere/attributes/source/values", (404, "namespace_not_found")),
        ("articles/attributes/source/values?limit=0", (400, "invalid_request")),
        ("articles/attributes/source/values?limit=1001", (400, "invalid_request")),
        ("articles/attributes/source/values?limit=x", (400, "invalid_request")),
    ],
)
def test_what_has_no_values_is_refused(api: Api, articles: str, path: str, expected: tuple[int, str]) -> None:
    assert error_of(api.get(f"/v1/namespaces/{path}")) == expected


def test_the_server_says_who_writes_its_answers_and_what_the_key_may_do(api: Api) -> None:
    with api.with_key(api.new_key(name="reader", scopes=["read"])) as reader:
        told = reader.get("/v1/server").json()
    assert (told["agent"], told["models"], told["embedder"]) == ("offline", [], "wordllama")
    assert told["key"] == {"name": "reader", "company_name": "default", "scopes": ["read"]}
    assert told["limits"]["documents_per_upload"] == 10_000
