"""Rows of the decisions: filters, as they look from outside. Their whole meaning is tested in the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.rows import row
from tests.api.serving import Api, error_of

UUID = "0b8f1d70-5a3c-4d0b-9c3f-0f5b3e1c2a11"
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "a",
        "color": "Red",
        "n": 1,
        "x": 1.0,
        "tags": ["p", "q"],
        "on": "2026-01-31",
        "flag": True,
        "key": UUID.upper(),
    },
    {"id": "b", "color": "blue", "n": 2, "x": 2.5, "tags": ["q"], "on": "2026-02-01T01:00:00+02:00", "flag": False},
    {"id": "c", "color": None, "n": 3, "tags": ["q", "p"]},
]
SCHEMA: dict[str, Any] = {
    "color": {"type": "string", "is_filterable": True},
    "n": {"type": "int", "is_filterable": True},
    "x": {"type": "float", "is_filterable": True},
    "tags": {"type": "[]string", "is_filterable": True},
    "on": {"type": "datetime", "is_filterable": True},
    "flag": {"type": "bool", "is_filterable": True},
    "key": {"type": "uuid", "is_filterable": True},
    "text": {"type": "string", "is_searchable": True},
}


@pytest.fixture(scope="module")
def namespace(api: Api) -> Iterator[str]:
    # The same sentence everywhere: what a search cites then depends on the filter alone.
    documents = [d | {"text": f"Storks build nests on the roof of house {d['id']}."} for d in DOCUMENTS]
    assert api.upload("filters", *documents, schema=SCHEMA).status_code == 200
    yield "filters"
    api.delete("/v1/namespaces/filters")


def scanned(api: Api, namespace: str, filters: Any) -> int:
    answer = api.search(namespace, objective="Where do storks build nests?", filters=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["documents_scanned"]


CASES: list[tuple[str, Any, str]] = [
    ("Filters: rule 1", {"color": None}, "c"),
    ("Filters: rule 1", {"color": {"$eq": None}}, "c"),
    ("Filters: rule 1", {"color": {"$neq": None}}, "ab"),
    ("Filters: rule 1", {"color": {"$exists": True}}, "ab"),
    ("Filters: rule 1", {"color": {"$in": ["Red", None]}}, "ac"),
    ("Filters: rule 2", {"color": {"$neq": "Red"}}, "bc"),
    ("Filters: rule 2", {"color": {"$not_in": ["Red"]}}, "bc"),
    ("Filters: rule 2", {"color": {"$not_glob": "R*"}}, "bc"),
    ("Filters: rule 2", {"$not": {"color": "Red"}}, "bc"),
    ("Filters: rule 2", {"$nor": [{"color": "Red"}, {"n": 3}]}, "b"),
    ("Filters: rule 2", {"x": {"$gt": 0}}, "ab"),
    ("Filters: rule 3", {"tags": "p"}, "ac"),
    ("Filters: rule 3", {"tags": ["p", "q"]}, "a"),
    ("Filters: rule 3", {"tags": {"$in": ["p"]}}, "ac"),
    ("Filters: rule 3", {"tags": {"$neq": "p"}}, "b"),
    ("Filters: rule 3", {"tags": {"$contains_all": ["p", "q"]}}, "ac"),
    ("Filters: rule 3", {"tags": {"$not_contains_any": ["p"]}}, "b"),
    ("Filters: rule 4", {"n": {"$gte": 1.5}}, "bc"),
    ("Filters: rule 4", {"x": 1}, "a"),
    ("Filters: rule 4", {"key": UUID}, "a"),
    ("Filters: rule 4", {"color": {"$lt": "a"}}, "a"),
    ("Filters: rule 5", {"on": "2026-01-31T00:00:00Z"}, "a"),
    ("Filters: rule 5", {"on": {"$in": ["2026-01-31T23:00:00Z"]}}, "b"),
    ("Filters: rule 5", {"on": {"$gte": "2026-01-31T12:00:00Z"}}, "b"),
    ("Filters: rule 6", {"color": {"$glob": "R?[c-e]"}}, "a"),
    ("Filters: rule 6", {"color": {"$iglob": "{RED,BLUE}"}}, "ab"),
    ("Filters: rule 6", {"tags": {"$glob": "p*"}}, "ac"),
    ("Filters: rule 7", {}, "abc"),
    ("Filters: rule 7", None, "abc"),
    ("Filters: rule 7", {"color": {"$not_in": []}}, "abc"),
    ("Filters: rule 7", {"id": {"$in": ["a", "c"]}}, "ac"),
    ("Filters: rule 8", {"$and": [{"n": {"$gte": 2}}, {"$or": [{"color": "blue"}, {"tags": "p"}]}]}, "bc"),
]


@pytest.mark.parametrize(("row", "filters", "ids"), CASES, indirect=["row"])
def test_a_search_sees_what_its_filter_lets_through(api: Api, namespace: str, row: str, filters: Any, ids: str) -> None:
    found = api.found(namespace, filters, objective="Where do storks build nests?")
    assert found <= set(ids)
    assert scanned(api, namespace, filters) == len(ids)


REFUSED: list[tuple[str, Any, str]] = [
    ("Filters: rule 3", {"color": {"$contains": "e"}}, "filter_type_mismatch"),
    ("Filters: rule 4", {"n": "1"}, "filter_type_mismatch"),
    ("Filters: rule 4", {"flag": 1}, "filter_type_mismatch"),
    ("Filters: rule 4", {"n": True}, "filter_type_mismatch"),
    ("Filters: rule 5", {"on": "yesterday"}, "filter_type_mismatch"),
    ("Filters: rule 7", {"color": {"$like": "x"}}, "invalid_filter"),
    ("Filters: rule 7", {"unheard": 1}, "unknown_attribute"),
    ("Filters: rule 7", {"text": "x"}, "attribute_not_filterable"),
    ("Filters: rule 7", {"$and": []}, "invalid_filter"),
    ("Filters: rule 7", {"$or": {"n": 1}}, "invalid_filter"),
    ("Filters: rule 9", {"color": "x" * 4_097}, "invalid_filter"),
    ("Filters: rule 9", {"color": {"$in": [str(n) for n in range(10_001)]}}, "invalid_filter"),
    ("Filters: rule 9", {"$or": [{"n": n} for n in range(1_001)]}, "invalid_filter"),
]


@pytest.mark.parametrize(("row", "filters", "code"), REFUSED, indirect=["row"])
def test_a_filter_that_cannot_be_is_refused(api: Api, namespace: str, row: str, filters: Any, code: str) -> None:
    answer = api.search(namespace, filters=filters)
    assert error_of(answer) == (400, code)
    assert answer.json()["error"]["details"][0]["path"].startswith("filters")


@row("Filters: rule 9")
def test_a_filter_that_is_too_deep_is_refused(api: Api, namespace: str) -> None:
    filters: dict[str, Any] = {"n": 1}
    for _ in range(17):
        filters = {"$not": filters}
    assert error_of(api.search(namespace, filters=filters)) == (400, "invalid_filter")


@row("Filters: rule 8")
def test_a_filter_that_matches_nothing_gives_nothing(api: Api, namespace: str) -> None:
    for filters in ({"color": "green"}, {"color": {"$in": []}}):
        answer = api.search(namespace, filters=filters).json()
        assert (answer["status"], answer["results"], answer["documents_scanned"]) == ("completed", [], 0)
        assert answer["synthesis"]


@row("Filters: grammar")
def test_every_operator_of_the_grammar_is_known(api: Api, namespace: str) -> None:
    operands: dict[str, Any] = dict.fromkeys(["$eq", "$neq", "$ne", "$gt", "$gte", "$lt", "$lte"], "x")
    operands |= {key: ["x"] for key in ["$in", "$not_in", "$nin"]}
    operands |= dict.fromkeys(["$glob", "$not_glob", "$iglob", "$not_iglob"], "x*")
    operands |= {"$exists": True, "$not": {"$eq": "x"}}
    for operator, operand in operands.items():
        assert api.search(namespace, filters={"color": {operator: operand}}).status_code == 200, operator
    lists: dict[str, Any] = {"$contains": "x", "$not_contains": "x"}
    lists |= {key: ["x"] for key in ["$contains_any", "$contains_all", "$not_contains_any"]}
    for operator, operand in lists.items():
        assert api.search(namespace, filters={"tags": {operator: operand}}).status_code == 200, operator
