"""Files over HTTP: each becomes the documents that the command line would make of it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.api.rows import row
from tests.api.serving import Api, ProcessServer, error_of
from tests.unit.files import made_files

MARKDOWN = (
    b"# Harbour\n\nThe pilot boat is called Odin.\n\n## Ferry\n\nIt sails at nine.\n\n## Bus\n\nIt leaves at ten.\n"
)


def send(api: Api, namespace: str, name: str, content: bytes, **more: str) -> httpx.Response:
    return api.post(f"/v1/namespaces/{namespace}/files", params={"name": name, **more}, content=content)


@row("Added after trials: A file over HTTP")
def test_a_file_becomes_its_sections_and_is_found(api: Api, fresh: str) -> None:
    answer = send(api, fresh, "notes/harbour.md", MARKDOWN)
    assert answer.status_code == 200
    assert answer.json() == {
        "documents_upserted": 3,
        "documents_deleted": 0,
        "skipped": None,
        "refused": [],
        "refused_count": 0,
        "notes": [],
    }
    hits = api.post(f"/v1/namespaces/{fresh}/retrieve", json={"text": "pilot boat", "k": 1}).json()["hits"]
    assert hits[0]["document_id"] == "notes/harbour.md"
    found = api.post(f"/v1/namespaces/{fresh}/documents/list", json={"filters": {"path": {"$glob": "notes/*"}}}).json()
    assert [each["heading"] for each in found["documents"]] == ["Harbour", "Harbour › Ferry", "Harbour › Bus"]


def test_a_later_version_takes_the_place_of_the_earlier_one(api: Api, fresh: str) -> None:
    own = {"id": "mine", "body": "Of somebody's own.", "path": "harbour.md"}
    assert api.upload(fresh, own, schema={"path": {"type": "string", "is_filterable": True}}).status_code == 200
    send(api, fresh, "harbour.md", MARKDOWN)
    again = send(api, fresh, "harbour.md", MARKDOWN.replace(b"## Bus\n\nIt leaves at ten.\n", b"")).json()
    assert (again["documents_upserted"], again["documents_deleted"]) == (2, 1)
    left = api.post(f"/v1/namespaces/{fresh}/documents/list", json={}).json()["documents"]
    assert {each["id"] for each in left} == {"mine", "harbour.md", "harbour.md#ferry"}


@pytest.mark.parametrize(
    ("name", "content", "attribute"),
    [
        ("a.pdf", made_files.pdf("Odin is the pilot boat."), "page"),
        ("a.docx", made_files.word((1, "Boats"), (0, "Odin is the pilot boat.")), "heading"),
        ("a.xlsx", made_files.sheet([["boat", "use"], ["Odin", "pilot"]]), "sheet"),
        ("a.eml", made_files.message("Odin", "The pilot boat is back.", message_id="m1@example.org"), "from"),
    ],
)
def test_files_of_offices_are_read(api: Api, fresh: str, name: str, content: bytes, attribute: str) -> None:
    answer = send(api, fresh, name, content).json()
    assert answer["documents_upserted"] >= 1
    page = api.get(f"/v1/namespaces/{fresh}/documents").json()["documents"]
    assert any(attribute in document for document in page)


def test_rows_take_the_types_of_the_schema_and_wrong_ones_are_named(api: Api, fresh: str) -> None:
    assert api.upload(fresh, {"id": "x", "count": 1}, schema={"count": {"type": "int"}}).status_code == 200
    answer = send(api, fresh, "shop.csv", b"id;item;count\na;rope;3\nb;oar;many\nc;net\n", separator=";").json()
    assert answer["documents_upserted"] == 1
    assert [each["place"] for each in answer["refused"]] == ["shop.csv:3", "shop.csv:4"]
    assert answer["refused_count"] == 2
    assert api.get(f"/v1/namespaces/{fresh}/documents/a").json()["count"] == 3


def test_an_empty_file_says_why_it_holds_nothing(api: Api, fresh: str) -> None:
    answer = send(api, fresh, "empty.md", b"\n").json()
    assert (answer["documents_upserted"], answer["skipped"]) == (0, "empty or without text")


@pytest.mark.parametrize(
    ("name", "content", "more", "expected"),
    [
        ("", MARKDOWN, {}, (400, "invalid_request")),
        ("x" * 1_100 + ".md", MARKDOWN, {}, (400, "invalid_request")),
        ("a.md", b"", {}, (400, "invalid_request")),
        ("a.csv", b"a,b\n1,2\n", {"separator": "::"}, (400, "invalid_request")),
        ("film.mov", b"abc", {}, (415, "unsupported_media_type")),
        ("a.pdf", b"no PDF at all", {}, (400, "invalid_document")),
        ("a.docx", b"PK\x03\x04 torn", {}, (400, "invalid_document")),
        ("a.parquet", b"PAR1 torn", {}, (400, "invalid_document")),
        ("a.txt", b"text", {"encoding": "zip"}, (400, "invalid_document")),
        ("a.txt", b"text", {"encoding": "klingon"}, (400, "invalid_document")),
    ],
)
def test_what_cannot_be_used_is_refused_and_makes_no_namespace(
    api: Api, name: str, content: bytes, more: dict[str, str], expected: tuple[int, str]
) -> None:
    answer = send(api, "never-made", name, content, **more)
    assert error_of(answer) == expected
    assert "/tmp" not in answer.text
    assert "never-made" not in {each["name"] for each in api.get("/v1/namespaces").json()["results"]}


def test_a_file_beyond_the_limit_is_refused_and_its_memory_given_back(tmp_path: Path) -> None:
    with ProcessServer(tmp_path, QUARRY_UPLOAD_BYTES=str(2**20)) as server, Api(server.url) as client:
        assert error_of(send(client, "notes", "a.txt", b"x" * (2**20 + 1)))[0] == 413
        for number in range(3):
            assert send(client, "notes", f"{number}.txt", b"word " * 200_000).status_code == 200


def test_ids_and_paths_are_as_the_name_was_given(api: Api, fresh: str) -> None:
    send(api, fresh, "/möwe/ä b.txt", "Eine Möwe.".encode())
    assert api.get(f"/v1/namespaces/{fresh}/documents").json()["documents"][0]["id"] == "möwe/ä b.txt"
