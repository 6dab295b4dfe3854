"""A headless Chromium, the servers it visits, and what a reader of the console does."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.serving import ROOT_KEY, Api, ProcessServer, ThreadServer, wait_until
from tests.api.slow_model import SlowModel

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
"""Nothing but this machine is known to the browser."""

PATIENCE_MS = 30_000
"""How long an element may take on a loaded machine."""

HARBOUR = [
    {
        "id": "log-4",
        "title": "Harbour log, 4 May",
        "body": "Gale warning at six.\n\nThe ferry to Ness was cancelled because the swell at the pier stood above two "
        "metres.\n\n" + "The pilot boat stayed in.\n\n" * 40 + "The harbour master closed the inner basin.",
        "date": "2023-05-04",
        "author": "M. Sinclair",
        "year": 2023,
    },
    {
        "id": "timetable",
        "title": "Timetable, summer",
        "body": "The ferry to Ness sails at nine and at five. Dogs must be kept on a lead.",
        "date": "2024-04-01",
        "author": "Ferry office",
        "year": 2024,
    },
    {
        "id": "notice",
        "title": "إشعار للمسافرين",
        "body": "ألغيت العبارة إلى نيس بسبب ارتفاع الأمواج عند الرصيف. تبقى التذاكر صالحة لمدة أربعة عشر يوما.",
        "date": "2023-05-04",
        "author": "Ferry office",
        "year": 2023,
    },
]
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "date": {"type": "datetime", "is_filterable": True},
    "author": {"type": "string", "is_filterable": True},
    "year": {"type": "int", "is_filterable": True},
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs all of these, so that there is one browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="chromium is not installed"))


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Generator[Api]:
    """A server in a process of its own, with the offline agent and a namespace called harbour."""
    with ProcessServer(tmp_path_factory.mktemp("pages")) as server, Api(server.url) as client:
        assert client.upload("harbour", *HARBOUR, schema=SCHEMA).status_code == 200
        yield client


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield running
        running.close()


class Modelled:
    """A server whose language model is under the test's hand."""

    def __init__(self, server: ThreadServer, model: SlowModel) -> None:
        self.url, self.server, self.model = server.url, server, model


@pytest.fixture(scope="package")
def with_model() -> Iterator[Modelled]:
    """A server with a model, and the harbour's documents."""
    model = SlowModel()
    with (
        model.served() as fake,
        ThreadServer(agent="claude", anthropic_api_key=fake.key, anthropic_base_url=fake.url) as server,
        Api(server.url) as client,
    ):
        assert client.upload("harbour", *HARBOUR, schema=SCHEMA).status_code == 200
        yield Modelled(server, model)


@pytest.fixture
def modelled(with_model: Modelled) -> Iterator[Modelled]:
    """The same; afterwards its model is quick and honest again."""
    yield with_model
    with_model.model.hangs = False
    with_model.model.delay_s = 0.0
    with_model.model.replies = {}
    wait_until(lambda: with_model.server.service.slots.running == 0)


class Reader:
    """Someone at the console.

    Attributes:
        page: of the browser; errors and refused sources on it fail the test at its end.
    """

    def __init__(self, context: Any, url: str) -> None:
        self.context, self.url = context, url
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: Any) -> None:
        # Answers that are no success are part of what is tested; scripts and policies that fail are not.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def open(self, route: str = "") -> Any:
        """The console at a route, signed in."""
        self.context.add_init_script(
            f"sessionStorage.getItem('quarry.key') ?? sessionStorage.setItem('quarry.key', '{ROOT_KEY}')"
        )
        self.page.goto(f"{self.url}/console{route}")
        return self.page

    def ask(self, question: str) -> Any:
        """Ask on the first page; the answer may still be on its way."""
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        return self.page.locator(".turn").last


def until(page: Any, expression: str) -> None:
    """Wait until JavaScript is true of the page; Playwright's own wait needs `eval` in it, which its policy forbids."""
    for _ in range(PATIENCE_MS // 20):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"it did not come true: {expression}")


@pytest.fixture
def reader(request: pytest.FixtureRequest, browser: Any, api: Api) -> Iterator[Reader]:
    """Someone at the console of the offline server; a dict as parameter goes to the browser's context."""
    yield from reading(browser, api.url, getattr(request, "param", {}))


@pytest.fixture
def model_reader(browser: Any, modelled: Modelled) -> Iterator[Reader]:
    """Someone at the console of the server with a model."""
    yield from reading(browser, modelled.url, {})


def reading(browser: Any, url: str, options: dict[str, Any]) -> Iterator[Reader]:
    """Someone at the console of `url`; at the end nothing may have failed in the page or come from elsewhere."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce", **options})
    reader = Reader(context, url)
    yield reader
    faults, outside = reader.faults, [u for u in reader.requests if not u.startswith((url, "blob:", "data:"))]
    context.close()
    assert faults == []
    assert outside == []
