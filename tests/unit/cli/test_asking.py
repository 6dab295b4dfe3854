"""Asking from a terminal: sources, excerpts in context, what comes nearest, conversations; of a server too."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest

import engine
from api.cli.answers import option_named
from tests.api.serving import ROOT_KEY, ProcessServer
from tests.unit.cli.running import at_terminal
from tests.unit.cli.running import invoked as quarry

FERRIES = [
    {
        "id": f"report-{number}",
        "title": f"Harbour report {number}",
        "published": f"2024-0{number}-02T10:00:00Z",
        "body": f"The harbour was quiet in week {number}. The ferry to Ness carried {number}00 bicycles that week. "
        "Nobody was hurt.",
    }
    for number in range(1, 7)
]
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "published": {"type": "datetime", "is_filterable": True},
}
ASKED = "How many bicycles did the ferry to Ness carry?"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asking") / "data"
    with engine.open(folder, agent="offline") as opened:
        opened.upsert("ferries", FERRIES, SCHEMA)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ProcessServer]:
    folder = tmp_path_factory.mktemp("asked")
    with engine.open(folder / "data", agent="offline") as opened:
        opened.upsert("ferries", FERRIES, SCHEMA)
    with ProcessServer(folder) as running:
        yield running


def plain(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_sources_have_title_date_id_and_an_excerpt_in_context(data: Path) -> None:
    shown = quarry("search", "ferries", ASKED, "--filter", '{"id": "report-4"}', data=data).stdout
    assert "[1] Harbour report 4  2024-04-02  report-4\n" in shown
    assert re.search(r"“[^”]*400 bicycles[^”]*”", shown)
    assert "Nobody was hurt." in shown


def test_the_answer_stays_on_the_screen_unless_all_is_asked_for(data: Path) -> None:
    short = quarry("search", "ferries", ASKED, data=data).stdout
    long = quarry("search", "ferries", ASKED, "--all", data=data).stdout
    cited = len(json.loads(quarry("search", "ferries", ASKED, "--json", data=data).stdout)["results"])
    assert cited > 3
    assert short.count("“") == 3
    assert long.count("“") >= cited
    assert len(short.splitlines()) < len(long.splitlines())


def test_what_a_terminal_of_80_columns_shows_fits_it_and_without_colour_has_none(data: Path) -> None:
    shown = at_terminal("search", "ferries", ASKED, data=data)
    assert "\x1b[" in shown
    assert max(map(len, plain(shown).splitlines())) <= 80
    assert "\x1b[" not in at_terminal("search", "ferries", ASKED, data=data, TERM="dumb")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", at_terminal("search", "ferries", ASKED, data=data, NO_COLOR="1"))


def test_not_found_names_the_nearest_documents(data: Path) -> None:
    shown = quarry("search", "ferries", "Who painted the ceiling of the opera house?", data=data).stdout
    nearest = shown.partition("Nearest documents:\n")[2].splitlines()
    assert len(nearest) == 3
    assert all(re.fullmatch(r"  report-\d  Harbour report \d", line) for line in nearest)


def test_a_conversation_asks_back_follows_up_and_goes_on_after_a_bad_turn(data: Path) -> None:
    lines = f"{ASKED}\n2\nWas anybody hurt?\n/nonsense\n/all\n/new\n{'x' * 2_100}\n{ASKED}\n/quit\nnever read\n"
    done = quarry("chat", "ferries", data=data, stdin=lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Which of these do you mean?\n  1. Harbour report") == 2
    meant = re.findall(r"  2\. (Harbour report \d)", done.stdout)[0]
    answer = done.stdout.split("scanned")[0].partition("[1] ")[2]
    assert answer.startswith(meant)
    assert done.stdout.count("scanned") == 3
    assert "/new begins anew" in done.stderr
    assert "quarry: `objective` has 2,100 characters" in done.stderr
    assert "never read" not in done.stdout


def test_a_conversation_with_a_namespace_that_is_not_there_ends_before_the_first_question(data: Path) -> None:
    done = quarry("chat", "fairies", data=data, stdin=ASKED)
    assert (done.returncode, done.stdout) == (1, "")
    assert "namespace_not_found" in done.stderr


def test_only_the_number_of_an_option_stands_for_it() -> None:
    asked = engine.Clarification("Which one?", ("The first", "The second"))
    assert [option_named(asked, line) for line in ("2", "0", "3", "²", "the first")] == [
        "The second",
        "0",
        "3",
        "²",
        "the first",
    ]


def test_passages_are_retrieved_with_where_they_stand(data: Path) -> None:
    done = quarry("retrieve", "ferries", "bicycles", "-k", "2", "--mode", "lexical", "--json", data=data)
    hits = json.loads(done.stdout)["hits"]
    assert len(hits) == 2
    for hit in hits:
        (document,) = (d for d in FERRIES if d["id"] == hit["document_id"])
        assert document[hit["attribute"]][hit["start"] : hit["end"]] == hit["text"]
    shown = quarry("retrieve", "ferries", "bicycles", "-k", "2", data=data).stdout
    assert shown.startswith("1. report-")


def test_documents_are_listed_in_order_and_exported_as_they_were_uploaded(data: Path, tmp_path: Path) -> None:
    listed = quarry("documents", "ferries", "--limit", "2", data=data)
    assert listed.stdout == "report-1  2024-01-02  Harbour report 1\nreport-2  2024-02-02  Harbour report 2\n"
    assert "--all" in listed.stderr
    assert len(quarry("documents", "ferries", "--all", data=data).stdout.splitlines()) == 6

    out = tmp_path / "ferries.jsonl"
    done = quarry("export", "ferries", "--output", str(out), data=data)
    assert done.stderr == f"6 documents written to {out}\n"
    assert [json.loads(line) for line in out.read_text().splitlines()] == FERRIES
    only = quarry("export", "ferries", "--filter", '{"published": {"$gte": "2024-06-01"}}', data=data)
    assert [json.loads(line)["id"] for line in only.stdout.splitlines()] == ["report-6"]
    assert only.stderr == "1 document written\n"


def test_an_export_that_fails_leaves_no_file(data: Path, tmp_path: Path) -> None:
    assert quarry("export", "fairies", "--output", str(tmp_path / "x"), data=data).returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_schema_is_shown_and_may_be_given_back(data: Path) -> None:
    rows = [line.split() for line in quarry("schema", "ferries", data=data).stdout.splitlines()]
    assert rows[0] == ["attribute", "type", "searched", "filterable"]
    assert ["published", "datetime", "no", "yes"] in rows
    shown = json.loads(quarry("schema", "ferries", "--json", data=data).stdout)
    assert {name: entry["type"] for name, entry in shown.items()} == {n: s["type"] for n, s in SCHEMA.items()}


def test_a_server_is_asked_the_same_way(server: ProcessServer, tmp_path: Path) -> None:
    def ask(*arguments: str, stdin: str = "") -> str:
        there = ("--url", server.url)
        done = quarry(*arguments, *there, data=None, cwd=tmp_path, stdin=stdin, QUARRY_API_KEY=ROOT_KEY)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Harbour report" in ask("search", "ferries", ASKED)
    assert "Nearest documents:" in ask("search", "ferries", "Who painted the ceiling of the opera house?")
    only = ("--filter", '{"id": "report-4"}')
    assert ask("chat", "ferries", *only, stdin=f"{ASKED}\nWas anybody hurt?\n").count("scanned") == 2
    assert ask("retrieve", "ferries", "bicycles", "-k", "1").startswith("1. report-")
    assert ask("documents", "ferries", "--limit", "1") == "report-1  2024-01-02  Harbour report 1\n"
    assert len(ask("export", "ferries").splitlines()) == 6
    assert json.loads(ask("schema", "ferries", "--json"))["published"]["is_filterable"]
    assert json.loads(ask("get", "ferries", "report-3")) == FERRIES[2]
    assert json.loads(ask("namespaces", "--json"))[0]["documents"] == 6
    raw = ask("keys", "create", "reader", "--scope", "read").strip()
    assert raw.startswith("qk_")
    (held,) = (key for key in json.loads(ask("keys", "list", "--json")) if key["name"] == "reader")
    assert ask("keys", "revoke", held["id"]) == f"{held['id']} revoked\n"
    assert ask("delete", "ferries", "report-6", "nobody") == "1 document removed\n"
    # Nothing was made beside the server.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "key", "status", "words"),
    [
        (["get", "ferries", "9"], ROOT_KEY, 1, "No document with id '9'. (document_not_found)"),
        (["search", "ferries", "x", "--filter", '{"colour": 1}'], ROOT_KEY, 1, "(unknown_attribute at filters.colour)"),
        (["search", "feries", "x"], ROOT_KEY, 1, "(namespace_not_found) Did you mean 'ferries'?"),
        (["namespaces"], "qk_not-a-key-of-theirs", 1, "(invalid_api_key)"),
        (["namespaces"], "", 2, "A server needs a key: --key, or QUARRY_API_KEY."),
        (["namespaces", "--data", "x"], ROOT_KEY, 2, "--url names a server"),
    ],
)
def test_what_a_server_refuses_is_one_line(
    server: ProcessServer, arguments: list[str], key: str, status: int, words: str
) -> None:
    done = quarry(*arguments, "--url", server.url, data=None, QUARRY_API_KEY=key)
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_and_one_that_is_another_are_said_in_one_line(server: ProcessServer) -> None:
    gone = quarry("namespaces", "--url", "http://127.0.0.1:9", "--key", "k", data=None)
    assert gone.stderr == (
        "quarry: http://127.0.0.1:9 cannot be reached: Connection refused. Does `quarry serve` run there?\n"
    )
    other = quarry("get", "a", "b", "--url", f"{server.url}/elsewhere", "--key", ROOT_KEY, data=None)
    assert other.returncode == 1
    assert other.stderr.startswith("quarry: ")
    wrong = quarry("namespaces", "--url", "localhost:8000", "--key", "k", data=None)
    assert "--url takes an address such as http://localhost:8000" in wrong.stderr


def test_the_settings_in_effect_are_shown_with_their_sources_and_no_secret(tmp_path: Path) -> None:
    done = quarry(
        "config", "--data", "elsewhere", "--json", data=None, QUARRY_PORT="9000", QUARRY_API_KEY="a-long-secret"
    )
    shown = {entry["setting"]: (entry["value"], entry["source"]) for entry in json.loads(done.stdout)}
    assert shown["QUARRY_DATA"] == ("elsewhere", "option")
    assert shown["QUARRY_PORT"] == ("9000", "environment")
    assert shown["QUARRY_HOST"] == ("127.0.0.1", "default")
    assert shown["QUARRY_API_KEY"] == ("(set)", "environment")
    assert "a-long-secret" not in done.stdout
    assert quarry("config", data=None, QUARRY_PORT="many").stderr.startswith("quarry: QUARRY_PORT takes")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_taught_to_complete(shell: str) -> None:
    assert "_QUARRY_COMPLETE" in quarry("completion", shell, data=None).stdout
