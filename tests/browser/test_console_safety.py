"""Documents cannot do anything to the console: their text is text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Api
from tests.browser.conftest import Reader

ATTACKS = [
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "<svg onload=window.owned=1>",
    "<iframe srcdoc='<script>parent.owned = 1</script>'></iframe>",
    "<a href='javascript:window.owned=1'>click</a>",
    "</textarea></title></style><style>*{display:none}</style>",
    "[1](javascript:window.owned=1) ![x](https://elsewhere.example/x.png)",
    "{{constructor.constructor('window.owned=1')()}}",
    "\u202e\u2066 reversed \u2069",
]


@pytest.fixture(scope="module")
def hostile(api: Api) -> str:
    documents: list[dict[str, Any]] = [
        {
            "id": f"doc {index}'\"><b>",
            "title": f"Zebra {attack}",
            "body": f"Zebras graze at noon. {attack} Zebras drink at dusk.",
            "author": attack,
            f"name{attack}"[:100]: attack,
        }
        for index, attack in enumerate(ATTACKS)
    ]
    schema = {
        "title": {"type": "string", "is_searchable": True},
        "body": {"type": "string", "is_searchable": True},
        "author": {"type": "string", "is_filterable": True},
    }
    assert api.upload("hostile", *documents, schema=schema).status_code == 200
    return "hostile"


def assert_harmless(page: Any) -> None:
    assert page.evaluate("window.owned") is None
    foreign = "main :is(script, iframe, img, style, object, embed), dialog :is(script, iframe, img, style)"
    assert page.locator(foreign).count() == 0
    assert page.locator("[onerror], [onload], a[href^='javascript:']").count() == 0


def test_hostile_documents_are_shown_as_text_everywhere(reader: Reader, hostile: str) -> None:
    page = reader.open(f"#/ask?ns={hostile}")
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_role("combobox", name="Value of author").click()
    page.locator(".suggestions li").first.wait_for()
    assert_harmless(page)
    page.keyboard.press("Escape")
    turn = reader.ask("When do zebras graze?")
    turn.locator(".exports").wait_for()
    assert "<" in turn.inner_text()
    assert_harmless(page)
    for index in range(min(3, turn.locator(".card").count())):
        turn.get_by_role("button", name="Show in the document").nth(index).click()
        page.locator("dialog .facts, dialog section").first.wait_for()
        assert_harmless(page)
        page.keyboard.press("Escape")
    for name in ("documents", "schema"):
        page.goto(f"{reader.url}/console#/manage/{name}?ns={hostile}")
        page.locator(".manage table").wait_for()
        assert "<" in page.locator(".manage table").inner_text()
        assert_harmless(page)


def test_a_hostile_link_fills_in_text_only(reader: Reader) -> None:
    page = reader.open(
        "#/ask?ns=%3Cimg%20src%3Dx%20onerror%3Downed%3D1%3E&q=%3Cscript%3Eowned%3D1%3C/script%3E&f=%7Bbroken"
    )
    page.get_by_label("Your question").wait_for()
    assert page.get_by_label("Your question").input_value() == "<script>owned=1</script>"
    assert_harmless(page)


def test_the_policy_stops_what_scripts_might_try(reader: Reader) -> None:
    page = reader.open()
    page.get_by_label("Your question").wait_for()
    tried = page.evaluate(
        """async () => {
          const refused = {};
          try { document.body.innerHTML = "<b>x</b>"; } catch (error) { refused.html = error.name; }
          try { await fetch("https://elsewhere.example/"); } catch (error) { refused.fetch = error.name; }
          const script = document.createElement("script");
          try { script.src = "https://elsewhere.example/x.js"; } catch (error) { refused.script = error.name; }
          return refused;
        }"""
    )
    assert tried == {"html": "TypeError", "fetch": "TypeError", "script": "TypeError"}
    reader.faults.clear()
    reader.requests.clear()
