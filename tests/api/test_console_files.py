"""How the console's files are served."""

from __future__ import annotations

import re

import pytest

from tests.api.serving import PROJECT, Api, error_of

CONSOLE = PROJECT / "api" / "console"


def test_the_page_and_its_files_need_no_key_and_forbid_everything_from_elsewhere(api: Api) -> None:
    with api.with_key(None) as nobody:
        for path in ("/console", "/console/index.html"):
            answer = nobody.get(path)
            assert answer.status_code == 200
            assert answer.headers["Content-Type"].startswith("text/html")
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "trusted-types 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy


def test_a_file_that_is_held_already_is_not_sent_again(api: Api) -> None:
    tag = api.get("/console").headers["ETag"]
    again = api.get("/console", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "nothing.js", "/etc/passwd", "index.html/x"]
)
def test_only_files_of_the_console_are_served(api: Api, path: str) -> None:
    assert error_of(api.with_key(None).get(f"/console/{path}"))[0] == 404


def test_the_address_of_the_server_leads_browsers_to_the_console(api: Api) -> None:
    with api.with_key(None) as nobody:
        sent = nobody.get("/", headers={"Accept": "text/html,application/xhtml+xml"})
        assert (sent.status_code, sent.headers["Location"]) == (307, "/console")
        assert nobody.get("/", headers={"Accept": "application/json"}).json()["console"] == "/console"


def imports(module: str) -> set[str]:
    """The modules that a module cannot begin without, itself included."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += re.findall(r'^import [^;]+? from "\./([^"]+)";', (CONSOLE / name).read_text(), re.MULTILINE)
    return seen


def test_the_page_names_what_it_begins_with_so_that_nothing_is_fetched_late() -> None:
    named = set(re.findall(r'"/console/([^"]+)"', (CONSOLE / "index.html").read_text()))
    assert {name for name in named if name.endswith(".js")} == imports("main.js") | {"theme.js"}
    assert {name for name in named if not name.endswith(".js")} == {
        str(path.relative_to(CONSOLE)) for path in CONSOLE.rglob("*.*") if path.suffix in {".css", ".svg"}
    }


def test_no_module_is_left_over() -> None:
    modules = {path.name for path in CONSOLE.glob("*.js")}
    assert modules - imports("main.js") - imports("manage.js") == {"theme.js"}


def test_texts_are_all_used_and_all_there() -> None:
    modules = {path.name: path.read_text() for path in CONSOLE.glob("*.js")}
    defined = set(re.findall(r"^  (\w+):", modules.pop("texts.js"), re.MULTILINE)) - {
        "read",
        "search",
        "write",
        "admin",
    }
    used = set(re.findall(r"\bT\.(\w+)", "".join(modules.values())))
    assert used - defined == set()
    assert defined - used - {"present", "missing"} == set()
