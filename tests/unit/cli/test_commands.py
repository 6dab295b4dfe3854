"""The commands, as a person runs them."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.unit.cli.running import at_terminal, invoked, quarry

NOTES = [
    {"id": "1", "title": "Storm", "body": "The storm closed the harbour for three days in May.", "year": 2023},
    {"id": "2", "title": "Timetable", "body": "The ferry to Ness sails at nine and at five.", "year": 2024},
]
SCHEMA = {"body": {"type": "string", "is_searchable": True}, "year": {"type": "int", "is_filterable": True}}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "notes.jsonl").write_text("".join(json.dumps(d) + "\n" for d in NOTES))
    done = quarry("ingest", "notes", str(folder / "notes.jsonl"), "--schema", json.dumps(SCHEMA), data=folder / "data")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 documents in notes\n"
    return folder / "data"


def test_search_answers_on_stdout_and_reports_progress_on_stderr(notes: Path) -> None:
    done = quarry("search", "notes", "When does the ferry to Ness sail?", data=notes)
    assert done.returncode == 0
    assert "nine and at five" in done.stdout
    assert "[1]" in done.stdout
    assert "Searching for" in done.stderr


def test_search_can_print_json_and_take_a_filter(notes: Path) -> None:
    done = invoked(
        "search", "notes", "What closed the harbour in May?", "--filter", '{"year": 2023}', "--json", data=notes
    )
    answer = json.loads(done.stdout)
    assert answer["status"] == "completed"
    assert {r["id"] for r in answer["results"]} == {"1"}


def test_a_stored_document_is_printed_as_it_was_sent(notes: Path) -> None:
    assert json.loads(invoked("get", "notes", "2", data=notes).stdout) == NOTES[1]


def test_namespaces_are_listed_with_sizes(notes: Path) -> None:
    (entry,) = json.loads(invoked("namespaces", "--json", data=notes).stdout)
    assert (entry["name"], entry["documents"]) == ("notes", 2)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["get", "notes", "9"], 1, "document_not_found"),
        (["search", "nothing", "x"], 1, "(namespace_not_found)\n"),
        (["search", "nots", "x"], 1, "No namespace named 'nots'. (namespace_not_found) Did you mean 'notes'?"),
        (["search", "notes", "x", "--filter", '{"colour": 1}'], 1, "unknown_attribute at filters.colour"),
        (["search", "notes", "x", "--filter", "{"], 2, "not a JSON object"),
        (["ingest", "notes", "missing.jsonl"], 1, "no such file"),
        (["ingest", "notes", ".", "--schema", '{"made": {"type": "date"}}'], 1, "invalid_schema at schema.made.type"),
        (["delete", "notes"], 2, "Give document ids"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_status(notes: Path, arguments: list[str], status: int, words: str) -> None:
    done = invoked(*arguments, data=notes)
    assert done.returncode == status
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "notes", "x"],
        ["get", "notes", "1"],
        ["delete", "notes", "1"],
        ["namespaces"],
        ["keys", "list"],
        ["keys", "revoke", "key_1"],
        ["check"],
        ["reindex", "notes"],
        ["backup", "copy"],
    ],
    ids=" ".join,
)
def test_a_mistyped_data_directory_is_named_and_not_made(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(main, [*arguments, "--data", str(tmp_path / "mistyped")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"quarry: There is no data directory at {tmp_path / 'mistyped'}. "
        "Name it with --data or QUARRY_DATA; `quarry ingest` makes one.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_no_data_directory(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"")
    assert "no data directory" in invoked("namespaces", data=tmp_path).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]


def test_a_data_directory_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    done = invoked("keys", "create", "laptop", data=tmp_path / "data")
    assert done.returncode == 1
    assert done.stderr == f"quarry: {tmp_path / 'data'} is no folder; --data names a folder.\n"


def test_a_fault_of_ours_is_one_line_unless_the_traceback_is_asked_for(notes: Path, tmp_path: Path) -> None:
    broken = "import api.cli.documents as d\nd.print_json = lambda value: 1 / 0\nfrom api.cli.main import main\nmain()"
    done = quarry("get", "notes", "1", data=notes, code=broken)
    assert done.returncode == 1
    assert done.stderr.startswith("quarry: unexpected fault, ZeroDivisionError: division by zero")
    assert done.stderr.count("\n") == 1
    assert "Traceback" in quarry("get", "notes", "1", data=notes, code=broken, QUARRY_LOG_LEVEL="debug").stderr


def test_ids_are_never_cut_and_a_narrow_terminal_shows_one_value_a_line(tmp_path: Path) -> None:
    name = "the laptop of the person who writes the minutes"
    invoked("keys", "create", name, data=tmp_path)
    (held,) = json.loads(invoked("keys", "list", "--json", data=tmp_path).stdout)
    piped = invoked("keys", "list", data=tmp_path, COLUMNS="40").stdout.splitlines()
    assert len(piped) == 2
    assert piped[1].startswith(f"{held['id']}  {name}  ")
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", at_terminal("keys", "list", data=tmp_path, columns=60))
    assert f"id         {held['id']}\nname       {name}\n" in narrow
    assert max(map(len, narrow.splitlines())) <= 60


def test_a_server_without_a_key_offers_to_make_one_at_a_terminal_and_says_so_elsewhere(tmp_path: Path) -> None:
    serve = ("serve", "--port", "0")
    refused = at_terminal(*serve, data=tmp_path, typed="n\n", until="listening on", QUARRY_AGENT="offline")
    assert "There is no API key yet. Make an admin key now?" in refused
    assert "there is no API key, so every request is refused" in refused
    made = at_terminal(*serve, data=tmp_path, typed="y\n", until="listening on", QUARRY_AGENT="offline")
    assert re.search(r"^qk_\S+$", made, re.MULTILINE)
    (held,) = json.loads(invoked("keys", "list", "--json", data=tmp_path).stdout)
    assert held["scopes"] == ["admin"]
    again = at_terminal(*serve, data=tmp_path, until="listening on", QUARRY_AGENT="offline")
    assert "API key" not in again


def test_an_address_that_cannot_be_listened_on_is_one_sentence_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = invoked("serve", "--port", str(port), data=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"quarry: Port {port} of 127.0.0.1 is in use, perhaps by another server; choose one with --port.\n"
    )
    other = invoked("serve", "--host", "192.0.2.1", data=tmp_path)
    assert other.stderr == "quarry: 192.0.2.1 is no address of this machine; choose one with --host.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_reindexing_that_is_stopped_says_so_and_leaves_the_namespace_as_it_was(notes: Path) -> None:
    stop = """
import os, signal
import api.cli.upkeep as upkeep
real = upkeep.counted
def counted(count, noun):
    if count == 2 and noun == "document":
        upkeep.counted = real
        os.kill(os.getpid(), signal.SIGINT)
    return real(count, noun)
upkeep.counted = counted
from api.cli.main import main
main()
"""
    done = quarry("reindex", "notes", data=notes, code=stop)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "stopped after 2 documents; notes is as it was\n"
    assert invoked("check", data=notes).stdout == "1 namespace is sound\n"


def test_piped_answers_are_not_wrapped(notes: Path) -> None:
    done = invoked("search", "notes", "When does the ferry to Ness sail?", data=notes, COLUMNS="20")
    assert "The ferry to Ness sails at nine and at five." in done.stdout


def test_keys_are_made_shown_once_listed_and_revoked(tmp_path: Path) -> None:
    raw = invoked("keys", "create", "laptop", "--scope", "search", data=tmp_path).stdout.strip()
    (held,) = json.loads(invoked("keys", "list", "--json", data=tmp_path).stdout)
    assert raw.startswith("qk_")
    assert raw not in json.dumps(held)
    assert held["scopes"] == ["search"]
    assert invoked("keys", "revoke", held["id"], data=tmp_path).returncode == 0
    assert json.loads(invoked("keys", "list", "--json", data=tmp_path).stdout) == []


def test_upkeep_finds_nothing_wrong_and_a_backup_opens(notes: Path, tmp_path: Path) -> None:
    assert invoked("check", data=notes).stdout == "1 namespace is sound\n"
    assert invoked("reindex", "notes", data=notes).stdout == "2 documents indexed anew\n"
    assert invoked("backup", str(tmp_path / "copy"), data=notes).returncode == 0
    restored = invoked("restore", str(tmp_path / "copy"), data=tmp_path / "restored")
    assert (restored.returncode, restored.stdout.partition(": ")[0]) == (0, f"restored to {tmp_path / 'restored'}")
    again = invoked("restore", str(tmp_path / "copy"), data=tmp_path / "restored")
    assert (again.returncode, len(again.stderr.splitlines())) == (1, 1)
    assert json.loads(invoked("get", "notes", "1", data=tmp_path / "copy").stdout) == NOTES[0]
