"""Asking in the console: answers, citations, documents, conversations, links."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.serving import Api, ProcessServer
from tests.api.slow_model import SlowModel
from tests.browser.conftest import HARBOUR, SCHEMA, Modelled, Reader, reading, until

WHY = "Why was the ferry to Ness cancelled?"


def answered(turn: Any) -> Any:
    turn.locator(".exports").wait_for()
    return turn


def test_the_key_is_asked_for_and_kept_for_the_session_only(reader: Reader, api: Any) -> None:
    page = reader.page
    page.goto(f"{reader.url}/console")
    page.get_by_label("API key").fill("not-a-key-at-all")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("not valid").wait_for()
    key = api.new_key()
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    page.get_by_label("Your question").wait_for()
    stored = page.evaluate("[JSON.stringify(sessionStorage), JSON.stringify(localStorage), document.cookie]")
    assert key in stored[0]
    assert key not in stored[1] + stored[2]
    assert page.get_by_role("link", name="Manage").count() == 1
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("API key").wait_for()
    assert "key" not in page.evaluate("JSON.stringify(sessionStorage)")


def test_an_answer_cites_findings_that_light_up_and_stand_in_their_document(reader: Reader) -> None:
    page = reader.open()
    page.locator(".about").get_by_text("3 documents").wait_for()
    turn = answered(reader.ask(WHY))
    assert "swell at the pier" in turn.locator(".prose").inner_text()
    citation = turn.locator(".citation").first
    card = turn.locator(".card").first
    citation.hover()
    assert "lit" in card.get_attribute("class")
    assert card.locator("h4").inner_text() == "Harbour log, 4 May"
    assert card.locator("time").inner_text() == "May 4, 2023"
    citation.click()
    assert page.evaluate("document.activeElement.className").startswith("card")
    card.get_by_role("button", name="Show in the document").click()
    mark = page.locator("dialog mark").first
    mark.wait_for()
    assert mark.inner_text() in card.locator("blockquote").first.inner_text()
    assert page.locator("dialog").get_by_text("M. Sinclair").count() == 1
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_the_document_is_scrolled_to_its_excerpt(reader: Reader) -> None:
    page = reader.open()
    turn = answered(reader.ask("Who closed the inner basin?"))
    turn.get_by_role("button", name="Show in the document").first.click()
    mark = page.locator("dialog mark.current")
    mark.wait_for()
    assert "inner basin" in mark.inner_text()
    until(page, "document.querySelector('.drawer-body').scrollTop > 200")
    assert mark.evaluate("m => { const b = m.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; }")


def test_nothing_found_says_so_without_findings(reader: Reader) -> None:
    reader.open()
    turn = answered(reader.ask("Who is the mayor of Paris?"))
    assert turn.locator(".unanswered").count() == 1
    assert turn.locator(".card").count() == 0


def test_filters_are_built_from_the_schema_with_counted_values(reader: Reader) -> None:
    page = reader.open()
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_label("Attribute").select_option("author")
    assert "contains the text" in page.get_by_label("Condition").inner_text()
    value = page.get_by_role("combobox", name="Value of author")
    value.click()
    option = page.get_by_role("option", name=re.compile("Ferry office"))
    option.wait_for()
    assert option.locator(".count").inner_text() == "2"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert value.input_value() == "Ferry office"
    with page.expect_request(re.compile("/search$")) as sent:
        turn = reader.ask(WHY)
    assert json.loads(sent.value.post_data)["filters"] == {"author": "Ferry office"}
    answered(turn)
    assert "filtered" in page.locator(".scope").inner_text()


@pytest.mark.parametrize(
    ("attribute", "condition", "typed", "expected"),
    [
        ("year", "is at least", "2024", {"year": {"$gte": 2024}}),
        ("year", "is missing", None, {"year": {"$exists": False}}),
        ("date", "is before", "2024-01-01", {"date": {"$lt": "2024-01-01"}}),
        ("author", "contains the text", "ferry", {"author": {"$iglob": "*ferry*"}}),
    ],
)
def test_each_type_has_its_conditions(
    reader: Reader, attribute: str, condition: str, typed: str | None, expected: dict[str, Any]
) -> None:
    page = reader.open()
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_label("Attribute").select_option(attribute)
    page.get_by_label("Condition").select_option(label=condition)
    if typed is not None:
        page.get_by_role("combobox", name=re.compile("Value of")).fill(typed)
    with page.expect_request(re.compile("/search$")) as sent:
        turn = reader.ask(WHY)
    assert json.loads(sent.value.post_data)["filters"] == expected
    answered(turn)


def test_a_filter_can_be_written_as_json_and_faults_in_it_are_said(reader: Reader) -> None:
    page = reader.open()
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Write as JSON").click()
    page.get_by_label("Filter as JSON").fill('{"year": ')
    page.get_by_role("button", name="Ask", exact=True).click()
    assert page.locator(".turn").count() == 0
    page.get_by_label("Your question").fill(WHY)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("alert").get_by_text("not JSON").wait_for()
    page.get_by_label("Filter as JSON").fill('{"nothing": 1}')
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("alert").get_by_text("filters.nothing").wait_for()


def test_a_follow_up_continues_the_session(reader: Reader) -> None:
    page = reader.open()
    answered(reader.ask(WHY))
    with page.expect_request(re.compile(r"/search/sess_")) as sent:
        page.get_by_label("Follow-up question").fill("And when does it sail?")
        page.keyboard.press("Enter")
    assert json.loads(sent.value.post_data)["message"] == "And when does it sail?"
    assert "at nine and at five" in answered(page.locator(".turn").nth(1)).locator(".prose").inner_text()
    assert page.locator(".turn").count() == 2


def test_an_answer_can_be_copied_as_markdown_json_and_link(reader: Reader) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=reader.url)
    page = reader.open()
    turn = answered(reader.ask(WHY))

    def copied(name: str) -> str:
        page.evaluate("navigator.clipboard.writeText('')")
        turn.get_by_role("button", name=name).click()
        until(page, "navigator.clipboard.readText().then((text) => text !== '')")
        return page.evaluate("navigator.clipboard.readText()")

    markdown = copied("Copy as Markdown")
    assert markdown.startswith(f"# {WHY}\n")
    assert "> The ferry to Ness was cancelled" in markdown
    response = json.loads(copied("Copy as JSON"))
    assert response["results"][0]["id"] == "log-4"
    link = copied("Copy link")
    assert link.startswith(f"{reader.url}/console#/ask?")
    key = page.evaluate("sessionStorage.getItem('quarry.key')")
    assert key not in link
    other = reader.context.new_page()
    other.goto(link)
    other.get_by_label("Your question").wait_for()
    assert other.get_by_label("Your question").input_value() == WHY
    # A link only fills in: whoever opens it decides whether to ask.
    assert other.locator(".turn").count() == 0


def test_earlier_questions_are_offered_again_and_can_be_forgotten(reader: Reader) -> None:
    page = reader.open()
    answered(reader.ask(WHY))
    page.get_by_role("link", name="New question").click()
    earlier = page.locator(".earlier").get_by_role("link", name=WHY)
    earlier.click()
    until(page, "document.getElementById('objective')?.value !== ''")
    assert page.get_by_label("Your question").input_value() == WHY
    page.get_by_role("button", name="Forget them").click()
    assert page.locator(".earlier").count() == 0
    assert page.evaluate("localStorage.getItem('quarry.questions')") is None


def test_a_question_back_is_answered_by_a_click(model_reader: Reader, modelled: Modelled) -> None:
    modelled.model.replies = {
        "clarify": {"needed": True, "question": "Whose ferry?", "options": ["M. Sinclair", "Ferry office"]}
    }
    page = model_reader.open()
    turn = model_reader.ask("When does the ferry sail?")
    turn.get_by_text("Whose ferry?").wait_for()
    modelled.model.replies = {}
    with page.expect_request(re.compile(r"/search/sess_")) as sent:
        turn.get_by_role("button", name="Ferry office").click()
    assert json.loads(sent.value.post_data)["message"] == "Ferry office"
    answered(page.locator(".turn").nth(1))


def test_a_search_can_be_stopped_and_the_server_stops_with_it(model_reader: Reader, modelled: Modelled) -> None:
    modelled.model.hangs = True
    page = model_reader.open()
    turn = model_reader.ask("When does the ferry sail?")
    slots = modelled.server.service.slots
    turn.locator(".pulse").wait_for()
    page.get_by_role("button", name="Stop").click()
    turn.get_by_text("Stopped.").wait_for()
    for _ in range(200):
        if slots.running == 0:
            break
        page.wait_for_timeout(20)
    assert slots.running == 0
    modelled.model.hangs = False
    page.get_by_label("Follow-up question").fill("When does the ferry sail?")
    page.keyboard.press("Enter")
    answered(page.locator(".turn").nth(1))


def test_leaving_the_page_ends_its_search(model_reader: Reader, modelled: Modelled) -> None:
    modelled.model.hangs = True
    page = model_reader.open()
    model_reader.ask("When does the ferry sail?").locator(".pulse").wait_for()
    page.get_by_role("link", name="Manage").click()
    page.locator(".manage table").wait_for()
    for _ in range(200):
        if modelled.server.service.slots.running == 0:
            break
        page.wait_for_timeout(20)
    assert modelled.server.service.slots.running == 0


def test_a_server_that_goes_away_is_said_where_the_answer_would_stand(browser: Any, tmp_path: Path) -> None:
    model = SlowModel()
    model.hangs = True
    with model.served() as fake:
        server = ProcessServer(
            tmp_path, QUARRY_AGENT="claude", ANTHROPIC_API_KEY=fake.key, ANTHROPIC_BASE_URL=fake.url
        ).start()
        with Api(server.url) as client:
            assert client.upload("harbour", *HARBOUR, schema=SCHEMA).status_code == 200
        for reader in reading(browser, server.url, {}):
            page = reader.open()
            turn = reader.ask("When does the ferry sail?")
            turn.locator(".steps li").first.wait_for(state="attached")
            server.process.kill()
            server.stop()
            turn.get_by_role("alert").get_by_text("connection ended").wait_for()
            page.get_by_label("Follow-up question").fill("And now?")
            page.keyboard.press("Enter")
            page.locator(".turn").nth(1).get_by_role("alert").get_by_text("cannot be reached").wait_for()


def test_a_key_that_is_revoked_while_a_stream_runs_ends_with_the_next_question(
    model_reader: Reader, modelled: Modelled
) -> None:
    modelled.model.delay_s = 0.3
    with Api(modelled.url) as client:
        made = client.post("/v1/api_keys", json={"name": "short-lived"}).json()
        page = model_reader.page
        page.goto(f"{modelled.url}/console")
        page.get_by_label("API key").fill(made["raw_key"])
        page.keyboard.press("Enter")
        turn = model_reader.ask("When does the ferry sail?")
        turn.locator(".pulse").wait_for()
        client.delete(f"/v1/api_keys/{made['api_key']['id']}")
        answered(turn)
        page.get_by_label("Follow-up question").fill("And now?")
        page.keyboard.press("Enter")
        page.get_by_label("API key").wait_for()
        page.get_by_role("alert").get_by_text("not valid").wait_for()


def test_nothing_moves_while_an_answer_streams(model_reader: Reader, modelled: Modelled) -> None:
    modelled.model.delay_s = 0.15
    page = model_reader.open()
    page.evaluate(
        """() => {
          window.shifts = [];
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value);
          }).observe({ type: "layout-shift", buffered: true });
        }"""
    )
    turn = model_reader.ask("When does the ferry sail?")
    answered(turn)
    page.wait_for_timeout(200)
    assert turn.locator(".steps li").count() >= 3
    assert page.evaluate("window.shifts.filter((value) => value > 0)") == []
