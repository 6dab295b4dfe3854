"""The console for everyone: assistive technology, keyboards, narrow and wide windows, both themes, both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Reader, until

WHY = "Why was the ferry to Ness cancelled?"
ROUTES = ["#/ask", *(f"#/manage/{name}" for name in ("namespaces", "documents", "upload", "schema", "keys", "server"))]


def axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Any) -> list[str]:
    """What axe finds, a line each: rule, and the first element at fault."""
    # Evaluated by the browser's own tools, past the page's policy, which would rightly refuse it.
    page.evaluate(f"() => {{ if (!window.axe) {{ {axe()} }} }}")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations)")
    return [
        f"{v['id']} ({v['impact']}): {v['nodes'][0]['html']}" for v in found if v["impact"] in {"serious", "critical"}
    ]


def shown(reader: Reader, route: str) -> Any:
    page = reader.open(route)
    page.locator("#objective, .manage table, .drop, .empty, .group").first.wait_for()
    return page


@pytest.mark.parametrize(
    "reader", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_axe_finds_nothing_serious_on_any_page(reader: Reader) -> None:
    found: list[str] = []
    page = reader.page
    page.goto(f"{reader.url}/console")
    page.get_by_label("API key").wait_for()
    found += violations(page)
    reader.open()
    page.reload()
    for route in ROUTES:
        page = shown(reader, route)
        found += [f"{route}: {line}" for line in violations(page)]
    shown(reader, "#/ask")
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Add a filter").click()
    found += [f"filters: {line}" for line in violations(page)]
    turn = reader.ask(WHY)
    turn.locator(".exports").wait_for()
    turn.get_by_role("button", name="step").click()
    found += [f"answer: {line}" for line in violations(page)]
    turn.get_by_role("button", name="Show in the document").first.click()
    page.locator("dialog mark").first.wait_for()
    found += [f"document: {line}" for line in violations(page)]
    assert found == []


def test_everything_from_question_to_document_works_by_keyboard(reader: Reader) -> None:
    page = reader.open()
    page.get_by_label("Your question").wait_for()
    assert page.evaluate("document.activeElement.id") == "objective"
    page.keyboard.type(WHY)
    page.keyboard.press("Enter")
    page.locator(".exports").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Follow-up question"
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.className") == "citation":
            break
    lit = page.locator(".card.lit")
    assert lit.count() == 1
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("dialog mark").first.wait_for()
    # The focus is inside the dialog, and comes back to where it was.
    assert page.evaluate("document.querySelector('dialog').contains(document.activeElement)")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "Show in the document"
    page.keyboard.press("Alt+m")
    page.locator(".manage table").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("Alt+q")
    page.get_by_label("Your question").wait_for()


def test_answers_and_pages_are_announced(reader: Reader) -> None:
    page = reader.open()
    page.get_by_label("Your question").wait_for()
    page.evaluate(
        """() => {
          window.said = [];
          const region = document.getElementById("announcer");
          new MutationObserver(() => window.said.push(region.textContent)).observe(region, { childList: true });
        }"""
    )
    turn = reader.ask(WHY)
    turn.locator(".exports").wait_for()
    until(page, "window.said.some((text) => text.startsWith('Answer: '))")
    assert turn.get_attribute("aria-busy") is None
    page.get_by_role("link", name="Manage").click()
    until(page, "window.said.some((text) => text.startsWith('Manage'))")


@pytest.mark.parametrize(
    "reader",
    [{"viewport": {"width": 360, "height": 740}}, {"viewport": {"width": 3840, "height": 2160}}],
    indirect=True,
    ids=["360", "4K"],
)
def test_no_page_is_wider_than_its_window(reader: Reader) -> None:
    def too_wide(page: Any) -> int:
        return page.evaluate("Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)")

    page = reader.page
    for route in ROUTES:
        page = shown(reader, route)
        page.wait_for_timeout(50)
        assert (route, too_wide(page)) == (route, 0)
    shown(reader, "#/ask")
    page.get_by_text("Background and filters").click()
    page.get_by_role("button", name="Add a filter").click()
    assert too_wide(page) == 0
    turn = reader.ask(WHY)
    turn.locator(".exports").wait_for()
    assert too_wide(page) == 0
    turn.get_by_role("button", name="Show in the document").first.click()
    page.locator("dialog mark").first.wait_for()
    assert page.evaluate("document.querySelector('.drawer').scrollWidth <= innerWidth")


def test_texts_written_from_right_to_left_are_shown_so(reader: Reader) -> None:
    page = reader.open()
    turn = reader.ask("لماذا ألغيت العبارة إلى نيس؟")
    turn.locator(".exports").wait_for()
    card = turn.locator(".card").filter(has_text="إشعار للمسافرين")
    assert card.locator("blockquote").first.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert turn.locator("h2").first.evaluate("element => getComputedStyle(element).direction") == "rtl"
    card.get_by_role("button", name="Show in the document").click()
    page.locator("dialog mark").first.wait_for()
    assert page.locator("dialog h2").evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_a_theme_is_kept_and_the_system_decides_without_one(reader: Reader) -> None:
    page = reader.open()
    page.get_by_label("Your question").wait_for()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Switch between light and dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Switch between light and dark").click()
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark
