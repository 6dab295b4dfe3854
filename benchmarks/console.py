"""How soon the console is painted and can be typed into, on loopback, in headless Chromium; and its pictures.

``python -m benchmarks.console`` prints the figures; with ``--pictures docs/images`` it makes the pictures of the page
about the console instead.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.api.serving import ROOT_KEY, Api, ProcessServer
from tests.browser.conftest import CHROMIUM, QUIET

LOADS = 15
QUESTION = "Why was the ferry to Ness cancelled?"
DOCUMENTS = [
    {
        "id": "log-2023-05-04",
        "title": "Harbour log, 4 May",
        "body": "Gale warning from the north-west at six. The harbour master closed the inner basin at half past"
        " seven.\n\n"
        "The ferry to Ness was cancelled at eight because the swell at the pier stood above two metres. "
        "Passengers were "
        "sent to the Saturday sailing.\n\nThe pilot boat stayed in.",
        "date": "2023-05-04",
        "author": "M. Sinclair",
        "tags": ["weather", "ferry"],
    },
    {
        "id": "notice-17",
        "title": "Notice to passengers 17",
        "body": "Sailings to Ness are cancelled whenever the swell at the pier is above two metres. The decision"
        " is taken at "
        "eight for the morning and at two for the afternoon. Tickets stay valid for fourteen days.",
        "date": "2022-11-01",
        "author": "Ferry office",
        "tags": ["ferry", "rules"],
    },
    {
        "id": "minutes-2023-06",
        "title": "Minutes of the pier committee",
        "body": "Four of six cancellations in May were caused by swell, two by a broken ramp.\n\nA breakwater of"
        " 120 metres "
        "would cost 2.4 million pounds. A movable ramp costs 310,000 pounds. The committee recommends the ramp.",
        "date": "2023-06-12",
        "author": "Pier committee",
        "tags": ["minutes", "money"],
    },
    {
        "id": "survey-a",
        "title": "Survey of the pier",
        "body": "The outer pier rests on 44 timber piles from 1931. Eleven are hollow below the low-water line.",
        "date": "2024-02-20",
        "author": "K. Aird",
        "tags": ["survey"],
    },
    {
        "id": "timetable-2024",
        "title": "Timetable, summer 2024",
        "body": "The ferry to Ness sails at nine and at five, on Sundays at ten only. The crossing takes 50 "
        "minutes. Dogs "
        "travel free and must be kept on a lead.",
        "date": "2024-04-01",
        "author": "Ferry office",
        "tags": ["ferry"],
    },
]
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "date": {"type": "datetime", "is_filterable": True},
    "author": {"type": "string", "is_filterable": True},
    "tags": {"type": "[]string", "is_filterable": True},
}


def opened(browser: Browser, url: str, route: str = "", **context: object) -> Page:
    chosen = {"viewport": {"width": 1180, "height": 760}, "reduced_motion": "reduce", **context}
    made = browser.new_context(**chosen)
    made.add_init_script(f"sessionStorage.setItem('quarry.key', '{ROOT_KEY}')")
    page = made.new_page()
    page.goto(f"{url}/console{route}")
    return page


def paints(browser: Browser, url: str) -> None:
    first: list[float] = []
    ready: list[float] = []
    for _ in range(LOADS):
        page = opened(browser, url)
        page.locator("#objective").wait_for()
        first.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        ready.append(page.evaluate("performance.now()"))
        page.context.close()
    for name, times in (("first contentful paint", first), ("question can be typed", ready)):
        times.sort()
        print(f"{name}: half {statistics.median(times):.0f} ms, slowest of {LOADS} {times[-1]:.0f} ms, cache empty")


def pictures(browser: Browser, url: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def asked(**context: object) -> Page:
        page = opened(browser, url, **context)
        page.get_by_label("Your question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".exports").wait_for()
        page.wait_for_timeout(300)
        return page

    page = asked()
    page.locator(".citation").first.hover()
    page.screenshot(path=folder / "console-answer.png")
    page.get_by_role("button", name="Show in the document").first.click()
    page.locator("dialog mark").first.wait_for()
    page.screenshot(path=folder / "console-document.png")
    page = opened(browser, url, "#/manage/documents")
    page.locator("tbody tr").first.wait_for()
    page.screenshot(path=folder / "console-documents.png")
    asked(viewport={"width": 360, "height": 740}, color_scheme="dark").screenshot(path=folder / "console-narrow.png")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pictures", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessServer(Path(folder)) as server, Api(server.url) as api:
        api.upload("harbour", *DOCUMENTS, schema=SCHEMA).raise_for_status()
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            if chosen.pictures is None:
                paints(browser, server.url)
            else:
                pictures(browser, server.url, chosen.pictures)
            browser.close()


if __name__ == "__main__":
    main()
