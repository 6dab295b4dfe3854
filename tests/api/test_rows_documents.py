"""Rows of the decisions: documents and schema."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.api.rows import row
from tests.api.serving import Api, error_of, error_path


def schema_of(api: Api, namespace: str) -> dict[str, Any]:
    return api.get(f"/v1/namespaces/{namespace}").json()["attributes_schema"]


def types_of(api: Api, namespace: str) -> dict[str, str]:
    return {name: entry["type"] for name, entry in schema_of(api, namespace).items()}


def get(api: Api, namespace: str, document_id: str) -> Any:
    # Clients resolve dots unless they are encoded.
    segment = quote(document_id, safe="").replace(".", "%2E")
    answer = api.get(f"/v1/namespaces/{namespace}/documents/{segment}")
    return answer.json() if answer.status_code == 200 else error_of(answer)


@row("Documents and schema: Upload response")
def test_an_upload_counts_distinct_ids(api: Api, fresh: str) -> None:
    answer = api.upload(fresh, {"id": "a"}, {"id": "b"}, {"id": "a"})
    assert answer.status_code == 200
    assert answer.json() == {"documents_upserted": 2}


@row("Documents and schema: Atomicity")
def test_an_upload_is_whole_or_nothing_and_found_at_once(api: Api, fresh: str) -> None:
    answer = api.upload(fresh, {"id": "good"}, {"id": "bad", "nested": float("1e10"), "": 1})
    assert answer.status_code == 400
    assert error_of(api.get(f"/v1/namespaces/{fresh}")) == (404, "namespace_not_found")
    api.upload(fresh, {"id": "good", "text": "Otters hold hands while they sleep."})
    assert error_of(api.upload(fresh, {"id": "next"}, {"id": "x" * 65})) == (400, "invalid_document")
    assert get(api, fresh, "next") == (404, "document_not_found")
    assert "good" in api.found(fresh, None, objective="What do otters hold?")


@row("Documents and schema: Same id twice in one request")
def test_of_an_id_twice_the_last_wins(api: Api, fresh: str) -> None:
    answer = api.upload(fresh, {"id": "a", "n": 1}, {"id": "a", "n": 2})
    assert answer.json() == {"documents_upserted": 1}
    assert get(api, fresh, "a") == {"id": "a", "n": 2}


@row("Documents and schema: More than 10,000", "Interface: Limits: Documents per upload request")
def test_more_than_ten_thousand_documents_are_refused(api: Api, fresh: str) -> None:
    answer = api.upload(fresh, *({"id": str(n)} for n in range(10_001)))
    assert error_of(answer) == (400, "too_many_documents")
    assert error_of(api.get(f"/v1/namespaces/{fresh}")) == (404, "namespace_not_found")


@row("Documents and schema: `documents: []`")
def test_no_documents_change_a_schema_but_make_no_namespace(api: Api, fresh: str) -> None:
    schema = {"topic": {"type": "string", "is_filterable": True}}
    assert api.upload(fresh, schema=schema).status_code == 400
    assert error_of(api.get(f"/v1/namespaces/{fresh}")) == (404, "namespace_not_found")
    api.upload(fresh, {"id": "a"})
    assert api.upload(fresh, schema=schema).json() == {"documents_upserted": 0}
    assert schema_of(api, fresh)["topic"]["is_filterable"] is True


@row("Documents and schema: Bad id (missing, not a string, empty, over 64 characters)")
@pytest.mark.parametrize(
    "document",
    [{}, {"id": 5}, {"id": None}, {"id": ""}, {"id": "x" * 65}, {"id": "a\nb"}, {"id": "a\u0000"}, {"id": ["a"]}],
)
def test_a_bad_id_is_refused_with_its_place(api: Api, fresh: str, document: dict[str, Any]) -> None:
    answer = api.upload(fresh, *({"id": str(n)} for n in range(17)), document)
    assert error_of(answer) == (400, "invalid_document")
    assert error_path(answer) == "documents[17].id"


@row("Documents and schema: Bad id (missing, not a string, empty, over 64 characters)")
@pytest.mark.parametrize(
    "document_id",
    ["x" * 64, "9f2c1c0e-5b7a-4a3e-8d0f-3c1d2e4b5a69", "a/b", "Ünïcödé ☃ 漢字 😀", "A", "a", " ", "...", ".a"],
)
def test_an_id_is_opaque_and_case_sensitive(api: Api, fresh: str, document_id: str) -> None:
    assert api.upload(fresh, {"id": document_id, "n": 1}).status_code == 200
    assert get(api, fresh, document_id) == {"id": document_id, "n": 1}


@row("Documents and schema: Types")
def test_all_types_are_taken_and_json_is_only_stored(api: Api, fresh: str) -> None:
    scalars: dict[str, Any] = {
        "string": "text",
        "int": -5,
        "uint": 5,
        "float": 0.5,
        "uuid": "0B8F1D70-5A3C-4D0B-9C3F-0F5B3E1C2A11",
        "datetime": "2026-01-31T10:00:00+01:00",
        "bool": True,
    }
    document: dict[str, Any] = {"id": "a", "json": {"deep": [1, "two", None, {"three": 3.0}]}}
    schema: dict[str, Any] = {"json": {"type": "json"}}
    for name, value in scalars.items():
        document |= {f"one_{name}": value, f"many_{name}": [value, value]}
        schema |= {f"one_{name}": {"type": name, "is_filterable": True}, f"many_{name}": {"type": f"[]{name}"}}
    assert api.upload(fresh, document, schema=schema).status_code == 200
    assert get(api, fresh, "a") == document
    assert types_of(api, fresh) == {name: entry["type"] for name, entry in schema.items()}
    assert error_of(api.search(fresh, filters={"json": 1})) == (400, "attribute_not_filterable")


@row("Documents and schema: Flags")
@pytest.mark.parametrize(
    "definition",
    [
        {"type": "int", "is_searchable": True},
        {"type": "json", "is_filterable": True},
        {"type": "text"},
        {"type": "string", "is_indexed": True},
        {"type": "string", "is_filterable": "yes"},
        {"is_filterable": True},
        "string",
    ],
)
def test_flags_that_do_not_fit_are_refused(api: Api, fresh: str, definition: Any) -> None:
    answer = api.upload(fresh, {"id": "a"}, schema={"x": definition})
    assert error_of(answer) == (400, "invalid_schema")
    assert error_path(answer).startswith("schema.x")


@row("Documents and schema: Flags")
def test_flags_are_off_unless_set(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a"}, schema={"x": {"type": "string"}, "y": {"type": "string", "is_searchable": True}})
    assert schema_of(api, fresh)["x"] == {"type": "string", "is_searchable": False, "is_filterable": False}


@row("Documents and schema: No schema, or an attribute it does not name")
def test_types_are_inferred(api: Api, fresh: str) -> None:
    first: dict[str, Any] = {
        "id": "a",
        "s": "2026-01-31",
        "b": True,
        "i": 1,
        "f": 1.5,
        "l": ["x"],
        "m": [1, "x"],
        "o": {"k": 1},
        "n": None,
        "e": [],
    }
    api.upload(fresh, first)
    inferred = {"s": "string", "b": "bool", "i": "int", "f": "float", "l": "[]string", "m": "json", "o": "json"}
    assert types_of(api, fresh) == inferred
    api.upload(fresh, {"id": "b", "n": 1, "e": [1.5]})
    assert types_of(api, fresh) == inferred | {"n": "int", "e": "[]float"}
    assert not any(e["is_filterable"] for e in schema_of(api, fresh).values())
    assert {e["type"] for e in schema_of(api, fresh).values() if e["is_searchable"]} == {"string", "[]string"}


@row("Documents and schema: Nothing searchable in the namespace")
def test_without_a_schema_every_text_is_searched(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a", "whatever": "Pangolins are covered in scales."}, {"id": "b", "n": 1})
    assert api.found(fresh, None, objective="What are pangolins covered in?") == {"a"}


@row("Added after trials: Searched by default")
def test_what_is_searched_by_default_is_shown_and_a_flag_on_another_attribute_does_not_switch_it_off(
    api: Api, fresh: str
) -> None:
    api.upload(fresh, {"id": "a", "body": "Pangolins are covered in scales.", "title": "Animals", "n": 1})
    searched = {"type": "string", "is_searchable": True, "is_filterable": False}
    shown = schema_of(api, fresh)
    assert shown["body"] == shown["title"] == searched | {"inferred": True}
    assert "inferred" not in shown["n"]

    assert api.upload(fresh, schema={"title": {"type": "string", "is_searchable": True}}).status_code == 200
    assert schema_of(api, fresh)["body"] == schema_of(api, fresh)["title"] == searched
    assert api.found(fresh, None, objective="What are pangolins covered in?") == {"a"}

    # What is shown may be sent back; switching off takes a plain `false`.
    assert api.upload(fresh, schema=shown).status_code == 200
    assert schema_of(api, fresh)["body"] == searched
    api.upload(fresh, schema={"body": {"type": "string", "is_searchable": False}})
    assert schema_of(api, fresh)["body"]["is_searchable"] is False
    assert api.found(fresh, None, objective="What are pangolins covered in?") == set()


@row("Documents and schema: Type change")
def test_a_type_does_not_change_but_an_inferred_int_widens(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a", "guessed": 1}, schema={"told": {"type": "int"}})
    answer = api.upload(fresh, {"id": "b"}, schema={"told": {"type": "string"}})
    assert error_of(answer) == (400, "schema_conflict")
    message = answer.json()["error"]["message"]
    assert all(word in message for word in ("told", "int", "string"))
    assert api.upload(fresh, {"id": "b", "guessed": 1.5}).status_code == 200
    assert types_of(api, fresh) == {"guessed": "float", "told": "int"}
    assert api.upload(fresh, {"id": "c", "told": 1.5}).status_code == 400


@row("Documents and schema: Later schema")
def test_a_later_schema_is_merged_and_works_at_once(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a", "x": "red"}, {"id": "b", "x": "blue"}, schema={"x": {"type": "string"}})
    assert error_of(api.search(fresh, filters={"x": "red"})) == (400, "attribute_not_filterable")
    api.upload(fresh, schema={"x": {"type": "string", "is_filterable": True}, "y": {"type": "int"}})
    assert api.found(fresh, {"x": "red"}, objective="red") == {"a"}
    api.upload(fresh, schema={"x": {"type": "string", "is_searchable": True}})
    shown = schema_of(api, fresh)
    assert shown["x"] == {"type": "string", "is_searchable": True, "is_filterable": True}
    assert shown["y"] == {"type": "int", "is_searchable": False, "is_filterable": False}


@row("Documents and schema: Value of another type")
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", 1),
        ("int", 1.5),
        ("int", "1"),
        ("int", True),
        ("uint", -1),
        ("float", "1"),
        ("bool", 1),
        ("uuid", "x"),
        ("datetime", "31.1.2026"),
        ("[]string", "x"),
        ("[]int", [1, "x"]),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_place(api: Api, fresh: str, kind: str, value: Any) -> None:
    answer = api.upload(fresh, {"id": "a"}, {"id": "b", "x": value}, schema={"x": {"type": kind}})
    assert error_of(answer) == (400, "invalid_document")
    assert error_path(answer).startswith("documents[1].x")


@row("Documents and schema: Value of another type")
def test_ints_are_floats_and_texts_are_moments(api: Api, fresh: str) -> None:
    schema = {"f": {"type": "float"}, "d": {"type": "datetime"}}
    document = {"id": "a", "f": 1, "d": "2026-01-31"}
    assert api.upload(fresh, document, schema=schema).status_code == 200
    assert get(api, fresh, "a") == document


@row("Documents and schema: Value of another type")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_are_none_are_refused(api: Api, fresh: str, number: str) -> None:
    body = b'{"documents":[{"id":"a","x":%b}]}' % number.encode()
    answer = api.post(f"/v1/namespaces/{fresh}/documents", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert error_of(answer)[1] in {"invalid_json", "invalid_document"}


@row("Documents and schema: Reserved")
@pytest.mark.parametrize("name", ["$x", "", "x" * 129])
def test_reserved_names_are_refused(api: Api, fresh: str, name: str) -> None:
    assert error_of(api.upload(fresh, {"id": "a", name: 1})) == (400, "invalid_document")
    assert error_of(api.upload(fresh, {"id": "a"}, schema={name: {"type": "int"}})) == (400, "invalid_schema")
    assert error_of(api.upload(fresh, {"id": "a"}, schema={"id": {"type": "int"}})) == (400, "invalid_schema")


@row("Documents and schema: Replace")
def test_nothing_of_a_replaced_version_is_found(api: Api, fresh: str) -> None:
    api.upload(
        fresh, {"id": "a", "old": "Walruses whistle under water.", "n": 1}, {"id": "b", "old": "Grass is green."}
    )
    api.upload(fresh, {"id": "a", "new": "Herons stand still."})
    assert get(api, fresh, "a") == {"id": "a", "new": "Herons stand still."}
    answer = api.search(fresh, objective="What do walruses do under water?")
    assert "alrus" not in answer.text.partition('"results"')[2]
    assert "a" in api.found(fresh, None, objective="How do herons stand?")


@row("Documents and schema: `GET` one")
def test_a_document_comes_back_as_it_was_sent(api: Api, fresh: str) -> None:
    document: dict[str, Any] = {
        "id": "a",
        "z": 1.0,
        "a": {"y": None, "x": [1, 2.5, "3", [True]]},
        "text": "Zeilen\numbruch \u0000 \u202e ☃",
        "none": None,
        "empty": [],
        "big": 2**53 + 1,
    }
    assert api.upload(fresh, document).status_code == 200
    answer = api.get(f"/v1/namespaces/{fresh}/documents/a")
    assert answer.status_code == 200
    assert list(answer.json().items()) == list(document.items())
    assert error_of(api.get(f"/v1/namespaces/{fresh}/documents/b")) == (404, "document_not_found")


@row("Documents and schema: Child of a root")
def test_a_child_names_its_root_and_can_be_filtered_by_it(api: Api, fresh: str) -> None:
    child = {"id": "child", "root_document_id": "root", "text": "Foxes dig dens."}
    assert api.upload(fresh, child, {"id": "other", "text": "Foxes run."}).status_code == 200
    assert api.found(fresh, {"root_document_id": "root"}, objective="What do foxes dig?") == {"child"}
    assert error_of(api.upload(fresh, {"id": "x", "root_document_id": 5})) == (400, "invalid_document")


@row("Documents and schema: Delete by `document_ids`")
def test_deleting_by_id_counts_what_was_there_and_keeps_children(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "root"}, {"id": "child", "root_document_id": "root"})
    body = {"document_ids": ["root", "unknown", "root"]}
    answer = api.request("DELETE", f"/v1/namespaces/{fresh}/documents", json=body)
    assert answer.status_code == 200
    assert answer.json() == {"documents_deleted": 1}
    assert get(api, fresh, "child") == {"id": "child", "root_document_id": "root"}


@row("Documents and schema: Delete by `root_document_ids`")
def test_deleting_a_root_takes_its_children(api: Api, fresh: str) -> None:
    api.upload(
        fresh,
        {"id": "root", "root_document_id": "root"},
        {"id": "one", "root_document_id": "root"},
        {"id": "two", "root_document_id": "late"},
        {"id": "other"},
    )
    body = {"root_document_ids": ["root", "late"]}
    answer = api.request("DELETE", f"/v1/namespaces/{fresh}/documents", json=body)
    assert answer.json() == {"documents_deleted": 3}
    assert get(api, fresh, "other") == {"id": "other"}


@row("Documents and schema: Both lists, or neither, or an empty list")
@pytest.mark.parametrize(
    "body",
    [
        {"document_ids": ["a"], "root_document_ids": ["a"]},
        {},
        {"document_ids": []},
        {"root_document_ids": []},
        {"document_ids": "a"},
        {"document_ids": [1]},
        {"document_ids": ["x"] * 10_001},
    ],
)
def test_a_deletion_that_says_too_much_or_nothing_is_refused(api: Api, fresh: str, body: dict[str, Any]) -> None:
    api.upload(fresh, {"id": "a"})
    for method, path in (("DELETE", "documents"), ("POST", "documents/delete")):
        answer = api.request(method, f"/v1/namespaces/{fresh}/{path}", json=body)
        assert error_of(answer) == (400, "invalid_request")
    assert get(api, fresh, "a") == {"id": "a"}


@row("Documents and schema: Proxies that drop a DELETE body")
def test_documents_are_deleted_by_post_too(api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "a"}, {"id": "delete"})
    answer = api.post(f"/v1/namespaces/{fresh}/documents/delete", json={"document_ids": ["a"]})
    assert answer.status_code == 200
    assert answer.json() == {"documents_deleted": 1}
    # To other methods the path still is that of a document.
    assert get(api, fresh, "delete") == {"id": "delete"}
