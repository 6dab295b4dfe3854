"""Rows of the decisions: namespaces."""

from __future__ import annotations

import re

import pytest

from tests.api.conftest import SCHEMA
from tests.api.rows import row
from tests.api.serving import Api, error_of


@row("Namespaces: Name")
@pytest.mark.parametrize("name", ["a" * 129, "a b", "ü", "a%0A", "a%2Fb", "a%00", "a,b", "%20"])
def test_a_name_that_breaks_the_rules_is_refused_everywhere(api: Api, name: str) -> None:
    expected = (400, "invalid_request")
    assert error_of(api.upload(name, {"id": "x"})) == expected
    assert error_of(api.search(name)) == expected
    assert error_of(api.get(f"/v1/namespaces/{name}")) == expected
    assert error_of(api.get(f"/v1/namespaces/{name}/documents/x")) == expected
    assert error_of(api.delete(f"/v1/namespaces/{name}")) == expected


@row("Namespaces: Name")
def test_a_name_may_use_all_that_is_allowed(api: Api) -> None:
    for name in ("a", "A-z_0.9", "b" * 128):
        assert api.upload(name, {"id": "x"}).status_code == 200
        assert api.get(f"/v1/namespaces/{name}").json()["name"] == name
        assert api.delete(f"/v1/namespaces/{name}").json() == {"deleted": True}


@row("Namespaces: Unknown, on search, get, delete")
def test_an_unknown_namespace_is_not_found(api: Api) -> None:
    missing = (404, "namespace_not_found")
    assert error_of(api.search("nowhere")) == missing
    assert error_of(api.get("/v1/namespaces/nowhere")) == missing
    assert error_of(api.get("/v1/namespaces/nowhere/documents/x")) == missing
    assert error_of(api.get("/v1/namespaces/nowhere/random_document")) == missing
    assert error_of(api.request("DELETE", "/v1/namespaces/nowhere/documents", json={"document_ids": ["x"]})) == missing
    assert error_of(api.delete("/v1/namespaces/nowhere")) == missing
    assert error_of(api.post("/v1/namespaces/nowhere/search/sess_x", json={"message": "go on"})) == missing


@row("Namespaces: List")
def test_namespaces_are_listed_by_name_in_pages(api: Api) -> None:
    names = [f"page-{letter}" for letter in "dacbe"]
    for name in names:
        api.upload(name, {"id": "x"})
    everything = api.get("/v1/namespaces").json()
    assert list(everything) == ["results"]
    listed = [n["name"] for n in everything["results"]]
    assert listed == sorted(listed)
    assert set(names) <= set(listed)
    only = api.get("/v1/namespaces", params={"prefix": "page-"}).json()
    assert list(only) == ["results"]
    assert [n["name"] for n in only["results"]] == sorted(names)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        params = {"prefix": "page-", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = api.get("/v1/namespaces", params=params).json()
        assert sorted(page) == ["next_cursor", "results"]
        assert len(page["results"]) <= 2
        seen += [n["name"] for n in page["results"]]
        cursor = page["next_cursor"]
    assert seen == sorted(names)
    for name in names:
        api.delete(f"/v1/namespaces/{name}")


@row("Namespaces: List")
@pytest.mark.parametrize("params", [{"limit": v} for v in ("0", "1001", "-1", "x", "1.5", "")] + [{"cursor": "%%"}])
def test_a_page_that_cannot_be_is_refused(api: Api, params: dict[str, str]) -> None:
    assert error_of(api.get("/v1/namespaces", params=params)) == (400, "invalid_request")


@row("Namespaces: `attributes_schema`")
def test_every_attribute_shows_type_and_both_flags(api: Api, articles: str) -> None:
    shown = api.get(f"/v1/namespaces/{articles}").json()["attributes_schema"]
    assert {name: entry["type"] for name, entry in shown.items()} == {n: s["type"] for n, s in SCHEMA.items()}
    assert all(sorted(entry) == ["is_filterable", "is_searchable", "type"] for entry in shown.values())
    assert shown["source"] == {"type": "string", "is_searchable": False, "is_filterable": True}


@row("Namespaces: `updated_at`")
def test_updated_at_moves_with_changes_only(api: Api, fresh: str) -> None:
    def updated() -> str:
        namespace = api.get(f"/v1/namespaces/{fresh}").json()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", namespace["updated_at"])
        return namespace["updated_at"]

    def delete(*ids: str) -> int:
        body = {"document_ids": list(ids)}
        return api.post(f"/v1/namespaces/{fresh}/documents/delete", json=body).json()["documents_deleted"]

    api.upload(fresh, {"id": "a", "n": 1}, {"id": "b", "n": 2})
    first = updated()
    assert delete("unknown") == 0
    api.search(fresh)
    api.get(f"/v1/namespaces/{fresh}/documents/a")
    assert updated() == first
    api.upload(fresh, {"id": "a", "n": 3})
    second = updated()
    assert delete("a") == 1
    third = updated()
    api.upload(fresh, schema={"n": {"type": "int", "is_filterable": True}})
    fourth = updated()
    assert first < second < third < fourth
    assert api.get(f"/v1/namespaces/{fresh}").json()["created_at"] <= first


@row("Namespaces: `id`")
def test_ids_are_integers_that_never_return(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a"})
    first = api.get(f"/v1/namespaces/{fresh}").json()["id"]
    api.delete(f"/v1/namespaces/{fresh}")
    api.upload(fresh, {"id": "a"})
    second = api.get(f"/v1/namespaces/{fresh}").json()["id"]
    assert isinstance(first, int)
    assert second > first


@row("Namespaces: More routes")
def test_namespaces_can_be_looked_at_measured_sampled_and_dropped(api: Api, fresh: str) -> None:
    documents = [{"id": f"d{n}", "text": f"Sentence number {n}."} for n in range(3)]
    api.upload(fresh, *documents)
    namespace = api.get(f"/v1/namespaces/{fresh}").json()
    assert sorted(namespace) == [
        "attributes_schema",
        "company_id",
        "company_name",
        "created_at",
        "id",
        "name",
        "updated_at",
    ]
    assert namespace in api.get("/v1/namespaces").json()["results"]
    stats = api.get("/v1/namespaces/stats").json()
    mine = next(entry for entry in stats["results"] if entry["name"] == fresh)
    assert (mine["document_count"], mine["passage_count"]) == (3, 3)
    assert mine["storage_bytes"] > 0
    for field in ("document_count", "passage_count", "storage_bytes"):
        assert stats[field] == sum(entry[field] for entry in stats["results"])
    assert api.get(f"/v1/namespaces/{fresh}/random_document").json() in documents
    api.post(f"/v1/namespaces/{fresh}/documents/delete", json={"document_ids": ["d0", "d1", "d2"]})
    nothing = api.get(f"/v1/namespaces/{fresh}/random_document")
    assert error_of(nothing) == (404, "document_not_found")
    assert nothing.json()["error"]["message"] == "There are no documents."
    assert api.delete(f"/v1/namespaces/{fresh}").json() == {"deleted": True}
    assert error_of(api.get(f"/v1/namespaces/{fresh}")) == (404, "namespace_not_found")
