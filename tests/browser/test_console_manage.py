"""Managing in the console: uploads, documents, schemas, namespaces, keys, the server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.api.serving import Api
from tests.browser.conftest import SCHEMA, Reader
from tests.unit.files import made_files


@pytest.fixture
def fresh(request: pytest.FixtureRequest, api: Api) -> Any:
    """The name of a namespace that is dropped afterwards."""
    name = f"fresh-{abs(hash(request.node.nodeid)) % 10_000}"
    yield name
    api.delete(f"/v1/namespaces/{name}")


def upload(page: Any, name: str, content: str | bytes, media: str = "text/plain") -> Any:
    """Give a file to the page; its row, when it is done."""
    data = content.encode() if isinstance(content, str) else content
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": media, "buffer": data})
    row = page.locator(".upload").filter(has_text=name).first
    row.locator(".hint").get_by_text(re.compile("Done|failed")).wait_for()
    return row


def test_files_of_each_kind_become_documents_and_refusals_name_their_line(reader: Reader, api: Api, fresh: str) -> None:
    page = reader.open(f"#/manage/upload?ns={fresh}")
    row = upload(page, "notes.md", "# The breakwater\n\nIt is 120 metres long.\n")
    assert "1 document stored" in row.inner_text()
    assert api.get(f"/v1/namespaces/{fresh}/documents/notes.md").json()["heading"] == "The breakwater"
    upload(page, "table.csv", 'id;name;words\nc-1;"Quoted; cell";"two\nlines"\nc-2;x\nc-3;"a ""b""";z\n')
    row = page.locator(".upload").filter(has_text="table.csv")
    assert "2 documents stored" in row.inner_text()
    assert row.locator("tbody tr").all_inner_texts() == ["4\t2 cells, but 3 columns"]
    assert api.get(f"/v1/namespaces/{fresh}/documents/c-1").json() == {
        "id": "c-1",
        "name": "Quoted; cell",
        "words": "two\nlines",
    }
    assert api.get(f"/v1/namespaces/{fresh}/documents/c-3").json()["name"] == 'a "b"'
    lines = ['{"id": "l-1", "n": 1}', "{broken", '{"id": "l-2", "n": "no number"}', '{"n": 4}', "[1]", '{"id": ""}']
    row = upload(page, "lines.jsonl", "\n".join(lines))
    assert "2 documents stored · 4 refused" in row.inner_text()
    refused = [cells.split("\t") for cells in row.locator("tbody tr").all_inner_texts()]
    assert sorted(int(line) for line, _ in refused) == [2, 3, 5, 6]
    assert api.get(f"/v1/namespaces/{fresh}/documents/lines.jsonl%3A4").json()["n"] == 4
    row = upload(page, "page.pdf", made_files.pdf("The pilot boat is called Odin.", "It is red."))
    assert "2 documents stored" in row.inner_text()
    assert api.get(f"/v1/namespaces/{fresh}/documents/page.pdf").json()["page"] == 1
    row = upload(page, "page.pdf", made_files.pdf("The pilot boat is called Freya."))
    assert "1 document of an earlier version removed" in row.inner_text()
    row = upload(page, "torn.pdf", b"%PDF-1.4")
    assert "cannot be used" in row.inner_text()
    row = upload(page, "film.mov", b"...")
    assert "are not read" in row.inner_text()
    row = upload(page, "latin.txt", ("Café und Brötchen für alle Gäste. " * 20).encode("latin-1"))
    assert "read as" in row.inner_text()
    row = upload(page, "all.json", json.dumps([{"id": f"j-{n}"} for n in range(1_500)]))
    assert "1,500 documents stored" in row.inner_text()
    row.get_by_role("link", name="Ask it").click()
    page.get_by_label("Your question").wait_for()


def test_an_upload_waits_for_a_server_that_is_away_for_a_moment(reader: Reader, api: Api, fresh: str) -> None:
    page = reader.open(f"#/manage/upload?ns={fresh}")
    away = iter([True, True])

    def serve(route: Any) -> None:
        if next(away, False):
            route.abort("connectionrefused")
        else:
            route.continue_()

    page.route(re.compile("/documents$"), serve)
    row = upload(page, "rows.jsonl", '{"id": "a"}\n{"id": "b"}\n')
    assert "2 documents stored" in row.inner_text()
    assert next(away, None) is None


def test_dropped_files_are_taken(reader: Reader, api: Api, fresh: str) -> None:
    page = reader.open(f"#/manage/upload?ns={fresh}")
    page.locator(".drop").evaluate(
        """(zone) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["Dropped text."], "dropped.txt"));
          zone.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }"""
    )
    page.locator(".upload").get_by_text("1 document stored").wait_for()
    assert api.get(f"/v1/namespaces/{fresh}/documents/dropped.txt").json()["body"] == "Dropped text."


def test_documents_are_paged_filtered_edited_and_deleted_with_their_children(
    reader: Reader, api: Api, fresh: str
) -> None:
    made = [{"id": f"d-{n:03}", "title": f"Number {n}", "body": "Some text.", "year": 2000 + n % 2} for n in range(120)]
    made.append({"id": "child", "title": "A child", "root_document_id": "d-001", "year": 1})
    assert api.upload(fresh, *made, schema={"year": {"type": "int", "is_filterable": True}}).status_code == 200
    page = reader.open(f"#/manage/documents?ns={fresh}")
    rows = page.locator("tbody tr")
    page.get_by_role("status").get_by_text("1–50").wait_for()
    assert rows.count() == 50
    page.get_by_role("button", name="Next").click()
    page.get_by_role("status").get_by_text("51–100").wait_for()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("status").get_by_text("101–121").wait_for()
    assert page.get_by_role("button", name="Next").is_disabled()
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("status").get_by_text("51–100").wait_for()
    page.get_by_text("Filters").click()
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_role("combobox", name="Value of year").fill("2001")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("status").get_by_text("1–50").wait_for()
    rows.first.get_by_role("button", name="Number 1", exact=True).click()
    dialog = page.locator("dialog.drawer")
    dialog.get_by_role("button", name="Edit as JSON").click()
    text = dialog.get_by_label("Document as JSON")
    text.fill(text.input_value().replace("Some text.", "Other text."))
    dialog.get_by_role("button", name="Save").click()
    dialog.get_by_text("Other text.").wait_for()
    assert api.get(f"/v1/namespaces/{fresh}/documents/d-001").json()["body"] == "Other text."
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it with its children").click()
    dialog.wait_for(state="detached")
    assert api.get(f"/v1/namespaces/{fresh}/documents/child").status_code == 404


def test_a_change_to_another_id_or_to_no_json_is_refused(reader: Reader, api: Api) -> None:
    page = reader.open("#/manage/documents?ns=harbour")
    page.get_by_role("button", name="Timetable, summer").click()
    page.get_by_role("button", name="Edit as JSON").click()
    text = page.get_by_label("Document as JSON")
    for content, said in (("{", "not JSON"), ('{"id": "other"}', "must stay")):
        text.fill(content)
        page.get_by_role("button", name="Save").click()
        page.get_by_role("alert").get_by_text(said).wait_for()
    assert api.get("/v1/namespaces/harbour/documents/other").status_code == 404


def test_numbers_of_any_size_survive_an_edit(reader: Reader, api: Api, fresh: str) -> None:
    large = {"id": "1", "n": 9_007_199_254_740_993, "ns": [-9_223_372_036_854_775_808], "text": "before"}
    assert api.upload(fresh, large).status_code == 200
    page = reader.open(f"#/manage/documents?ns={fresh}")
    page.locator("tbody button").click()
    page.locator("dialog").get_by_text("9007199254740993").wait_for()
    page.get_by_role("button", name="Edit as JSON").click()
    text = page.get_by_label("Document as JSON")
    text.fill(text.input_value().replace("before", "after"))
    page.get_by_role("button", name="Save").click()
    page.locator("dialog").get_by_text("after").wait_for()
    assert api.get(f"/v1/namespaces/{fresh}/documents/1").json() == large | {"text": "after"}


def test_flags_of_the_schema_are_switched_and_attributes_added(reader: Reader, api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "1", "title": "A title", "body": "A body."}, schema=dict(list(SCHEMA.items())[:2]))
    page = reader.open(f"#/manage/schema?ns={fresh}")
    page.get_by_role("checkbox", name="Filterable: title").check()
    page.locator(".toast").get_by_text("title is changed").wait_for()
    page.get_by_role("button", name="Add an attribute").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("published")
    page.get_by_label("Type").select_option("datetime")
    page.get_by_label("Filterable: filters may name it").check()
    page.locator("dialog").get_by_role("button", name="Add an attribute").click()
    page.get_by_role("rowheader", name="published").wait_for()
    schema = api.get(f"/v1/namespaces/{fresh}").json()["attributes_schema"]
    assert schema["title"]["is_filterable"]
    assert schema["published"]["type"] == "datetime"
    assert schema["published"]["is_filterable"]


def test_a_namespace_is_dropped_only_when_its_name_is_typed(reader: Reader, api: Api, fresh: str) -> None:
    api.upload(fresh, {"id": "1", "body": "A body."})
    page = reader.open("#/manage/namespaces")
    page.get_by_role("button", name=f"Drop {fresh}").click()
    confirm = page.locator("dialog").get_by_role("button", name="Drop")
    assert confirm.is_disabled()
    page.get_by_label("Type its name").fill(fresh[:-1])
    assert confirm.is_disabled()
    page.get_by_label("Type its name").fill(fresh)
    confirm.click()
    page.locator(".toast").get_by_text("is gone").wait_for()
    assert api.get(f"/v1/namespaces/{fresh}").status_code == 404


def test_a_new_namespace_leads_to_its_first_upload(reader: Reader) -> None:
    page = reader.open("#/manage/namespaces")
    page.get_by_role("button", name="New namespace").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("not a name")
    page.get_by_role("button", name="Continue").click()
    assert page.locator("dialog").count() == 1
    page.get_by_role("textbox", name="Name", exact=True).fill("brand-new")
    page.get_by_role("button", name="Continue").click()
    page.locator(".drop").wait_for()
    assert page.get_by_label("Namespace", exact=True).input_value() == "brand-new"


def test_a_key_is_shown_once_and_revoked(reader: Reader, api: Api) -> None:
    page = reader.open("#/manage/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("made in the console")
    page.get_by_role("checkbox", name="write").uncheck()
    page.locator("dialog").get_by_role("button", name="New key").click()
    page.locator("dialog").get_by_text("not shown again").wait_for()
    raw = page.locator("dialog input.code").input_value()
    with api.with_key(raw) as other:
        assert other.get("/v1/server").json()["key"]["scopes"] == ["read", "search"]
        page.locator("dialog").get_by_role("button", name="Close").click()
        page.get_by_role("rowheader", name="made in the console").wait_for()
        assert raw not in page.content()
        page.get_by_role("button", name="Revoke made in the console").click()
        page.locator("dialog").get_by_role("button", name="Revoke").click()
        page.locator(".toast").get_by_text("is revoked").wait_for()
        assert other.get("/v1/server").status_code == 401


def test_a_revoked_key_leads_back_to_the_sign_in(reader: Reader, api: Api) -> None:
    made = api.post("/v1/api_keys", json={"name": "short-lived"}).json()
    page = reader.page
    page.goto(f"{reader.url}/console")
    page.get_by_label("API key").fill(made["raw_key"])
    page.keyboard.press("Enter")
    page.get_by_label("Your question").wait_for()
    api.delete(f"/v1/api_keys/{made['api_key']['id']}")
    page.get_by_label("Your question").fill("Is anybody there?")
    page.keyboard.press("Enter")
    page.get_by_label("API key").wait_for()
    page.get_by_role("alert").get_by_text("not valid").wait_for()
    assert page.evaluate("sessionStorage.getItem('quarry.key')") is None


def test_pages_that_a_key_may_not_use_are_not_offered(reader: Reader, api: Api) -> None:
    key = api.new_key(scopes=["read", "search"])
    reader.context.add_init_script(f"sessionStorage.setItem('quarry.key', '{key}')")
    page = reader.page
    page.goto(f"{reader.url}/console#/manage/documents?ns=harbour")
    page.get_by_role("button", name="Timetable, summer").click()
    page.locator("dialog.drawer .facts").wait_for()
    assert page.get_by_role("button", name="Edit as JSON").count() == 0
    page.keyboard.press("Escape")
    menu = page.get_by_role("navigation", name="Manage").get_by_role("link").all_inner_texts()
    assert menu == ["Namespaces", "Documents", "Schema", "Server"]


def test_the_server_page_says_who_writes_answers_and_how_the_server_is(reader: Reader) -> None:
    page = reader.open("#/manage/server")
    page.get_by_text("rules, offline").wait_for()
    assert page.locator(".state.good").count() == 2
    assert "10,000" in page.locator(".panel").inner_text()
