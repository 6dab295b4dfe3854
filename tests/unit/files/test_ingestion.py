"""Folders into a real engine: what is stored, passed over, refused and taken away."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from api.cli.local import OpenedTarget
from api.files.documents import MAX_ID
from api.files.ingestion import Ingestion, Plan, find
from api.files.ledger import FILE_NAME, LedgerError
from api.files.report import Report
from api.files.store import Store
from api.files.walk import Found, Left, Selection, walk
from tests.unit.files import made_files as made


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Engine]:
    with engine.open(tmp_path_factory.mktemp("engine"), agent="offline") as quarry:
        yield quarry


class Notes:
    """A namespace of its own, and a folder to fill."""

    def __init__(self, quarry: engine.Engine, folder: Path, name: str) -> None:
        self.quarry = quarry
        self.folder = folder / "docs"
        self.folder.mkdir()
        self.data = folder / "data"
        self.data.mkdir()
        self.name = name

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def ingest(self, *paths: Path, schema: dict[str, Any] | None = None, **plan: Any) -> Report:
        report = Report()
        asked = Plan(paths=paths or (self.folder,), **plan)
        store = Store(OpenedTarget(self.quarry), self.name, schema, self.data, report)
        try:
            Ingestion(asked, store, report, lambda size: None).run(find(asked))
        finally:
            store.close()
        return report

    def get(self, document_id: str) -> dict[str, Any]:
        return self.quarry.get(self.name, document_id)

    def has(self, document_id: str) -> bool:
        try:
            return bool(self.get(document_id))
        except engine.DocumentNotFound:
            return False

    def size(self) -> int:
        return {s.name: s.documents for s in self.quarry.stats()}.get(self.name, 0)


@pytest.fixture
def notes(opened: engine.Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Notes:
    return Notes(opened, tmp_path, f"n{abs(hash(request.node.nodeid))}")


def reasons(report: Report) -> dict[str, str]:
    return {each.place: each.reason for each in report.refused}


THIRTY = {
    "a.jsonl": '{"id": "line", "body": "rope"}\n',
    "a.ndjson": '{"id": "line2", "body": "rope"}\n',
    "list.json": '[{"id": "j1", "body": "x y"}]',
    "wrapped.json": '{"documents": [{"id": "j2", "body": "x y"}]}',
    "one.json": '{"id": "j3", "body": "x y"}',
    "a.csv": "id,body\nc1,comma rope\n",
    "semicolon.csv": "id;body\nc2;rope, cut\n",
    "a.tsv": "id\tbody\nt1\ttab\n",
    "latin.csv": "id;body\nc3;Käfer und Größe, Straße und Fähre, früh und später\n".encode("cp1252"),
    "a.md": "# Harbour\n\nIt closed.\n\n## Ferry\n\nIt sails.\n",
    "front.md": "---\ntitle: Front\n---\nText.\n",
    "toml.md": '+++\ntitle = "Toml"\n+++\nText.\n',
    "a.markdown": "Only text.\n",
    "a.txt": "Plain text.",
    "utf16.txt": "Sechzehn Bit.".encode("utf-16"),
    "a.rst": "Title\n=====\n\nText.\n",
    "README": "Read me first.",
    "server.log": "2024-05-01 the server started\n",
    "a.html": "<title>T</title><nav>no</nav><main><h1>H</h1><p>Page text.</main>",
    "old.htm": "<meta charset=windows-1252><p>Größe".encode("cp1252"),
    "a.eml": made.message("Ferry", "It sails at nine.", message_id="1@x"),
    "html.eml": made.message("Ferry", "<p>At five.</p>", message_id="2@x", html=True),
    "a.mbox": made.mailbox(made.message("A", "One.", message_id="3@x"), made.message("B", "Two.", message_id="4@x")),
    "a.pdf": made.pdf("Page one.", "Page two."),
    "locked.pdf": made.encrypted_pdf("No password.", user_password=""),
    "a.docx": made.word((0, "Intro."), (1, "Fares"), (0, "Cheap.")),
    "a.pptx": made.slides(("Plan", "Sail", "")),
    "a.xlsx": made.sheet([["item", "count"], ["rope", 7]]),
    "a.epub": made.book("<h1>One</h1><p>Rain.</p>"),
    "a.py": "def ferry(): ...\n",
    "a.sql": "select 1;\n",
    "Makefile": "all:\n\techo\n",
}


def test_a_folder_of_thirty_kinds_is_stored_and_found(notes: Notes) -> None:
    import duckdb

    for name, content in THIRTY.items():
        notes.put(name, content)
    duckdb.execute(
        "COPY (SELECT 'pq' AS id, 'parquet rope' AS body, DATE '2024-05-01' AS day, 1.5::DECIMAL(4,1) AS price, "
        f"TIMESTAMPTZ '2024-05-01 12:00:00+02' AS moment, [1, 2] AS list, 'x'::BLOB AS raw) "
        f"TO '{notes.folder}/a[1].parquet'"
    )
    report = notes.ingest()
    assert (reasons(report), report.skipped) == ({}, {})
    assert report.files == len(THIRTY) + 1 > 30
    assert notes.get("pq") == {
        "id": "pq",
        "body": "parquet rope",
        "day": "2024-05-01",
        "price": 1.5,
        "moment": "2024-05-01T10:00:00",
        "list": [1, 2],
    }
    assert notes.get("a.pdf#p2") == {
        "id": "a.pdf#p2",
        "title": "a",
        "page": 2,
        "path": "a.pdf",
        "root_document_id": "a.pdf",
        "body": "Page two.",
    }
    assert notes.get("a.md#ferry")["heading"] == "Harbour › Ferry"
    assert (
        notes.quarry.retrieve(notes.name, "page two", filters={"page": 2, "path": {"$glob": "*.pdf"}})[0].text
        == "Page two."
    )
    again = notes.ingest()
    assert (again.documents, again.unchanged) == (0, len(THIRTY) + 1)


def test_the_same_file_is_one_document_however_its_path_is_spelt(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = notes.put("sub/a.txt", "text")
    notes.ingest()
    monkeypatch.chdir(notes.folder)
    for spelling in (Path(), Path("sub/../sub/a.txt"), file, Path("sub") / "a.txt"):
        notes.ingest(spelling, force=True)
    (notes.folder / "way").symlink_to(notes.folder)
    notes.ingest(notes.folder / "way" / "sub" / "a.txt", force=True)
    assert notes.size() == 1
    assert notes.get("sub/a.txt")["path"] == "sub/a.txt"


def test_what_is_not_read_is_told_by_reason_and_the_rest_goes_on(notes: Notes, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("outside")
    notes.put("good.txt", "good")
    notes.put("empty.txt", " \n")
    notes.put("x.png", "x")
    notes.put("noending", "x")
    notes.put(".hidden/a.txt", "x")
    notes.put("broken.pdf", "x")
    notes.put("rows.csv", "id,a\n1,x\n2\n")
    (notes.folder / "link.txt").symlink_to(secret)
    (notes.folder / "linked").symlink_to(tmp_path)
    os.mkfifo(notes.folder / "pipe.txt")
    os.mknod(notes.folder / "socket.txt", stat.S_IFSOCK | 0o600)
    report = notes.ingest()
    assert report.skipped == {
        "empty or without text": 1,
        "unknown kind .png": 1,
        "unknown kind without an ending": 1,
        "hidden": 1,
        "a link": 2,
        "no regular file": 2,
    }
    assert reasons(report) == {
        "broken.pdf": "damaged: it does not begin as a PDF",
        "rows.csv:3": "1 cells, but 2 columns",
    }
    assert notes.size() == 2


def test_what_is_named_and_no_file_is_refused(notes: Notes) -> None:
    os.mkfifo(notes.folder / "pipe.txt")
    assert list(reasons(notes.ingest(notes.folder / "pipe.txt")).values()) == ["no regular file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_folders_are_refused(notes: Notes) -> None:
    notes.put("closed/a.txt", "x").parent.chmod(0)
    try:
        assert list(reasons(notes.ingest()).values()) == ["Permission denied"]
    finally:
        (notes.folder / "closed").chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_a_fault_and_the_walk_goes_on(notes: Notes) -> None:
    notes.put("a.txt", "x")
    notes.put("sub/b.txt", "x")
    notes.put("z.txt", "x")
    walking = walk([notes.folder], Selection())
    first = next(walking)
    shutil.rmtree(notes.folder / "sub")
    gone, last = walking
    assert isinstance(gone, Left)
    assert (gone.path, gone.is_fault) == (str(notes.folder / "sub"), True)
    assert [entry.name for entry in (first, last) if isinstance(entry, Found)] == ["a.txt", "z.txt"]


def test_a_pipe_or_folder_that_takes_the_place_of_a_file_is_not_waited_for(notes: Notes, tmp_path: Path) -> None:
    path = notes.put("a.txt", "x")
    inner = notes.put("sub/b.txt", "x")
    plan = Plan(paths=(notes.folder,))
    found = find(plan)
    path.unlink()
    os.mkfifo(path)
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "b.txt").write_text("secret")
    shutil.rmtree(inner.parent)
    inner.parent.symlink_to(tmp_path / "away")
    report = Report()
    store = Store(OpenedTarget(notes.quarry), notes.name, None, notes.data, report)
    Ingestion(plan, store, report, lambda size: None).run(found)
    store.close()
    assert report.skipped == {"no regular file": 1}
    assert list(reasons(report).values()) == ["a folder of its path became a link"]
    assert notes.size() == 0


def test_a_link_that_stands_for_a_file_while_it_is_opened_is_not_followed(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, secret, real = notes.put("a.txt", "x"), tmp_path / "secret.txt", os.open
    secret.write_text("outside")

    def exchanged(name: str, *args: Any, **kwargs: Any) -> int:
        if name != str(path):
            return real(name, *args, **kwargs)
        path.rename(tmp_path / "aside")
        path.symlink_to(secret)
        try:
            return real(name, *args, **kwargs)
        finally:
            (tmp_path / "aside").rename(path)

    monkeypatch.setattr("api.files.opening.os.open", exchanged)
    assert list(reasons(notes.ingest())) == ["a.txt"]
    assert notes.size() == 0


def test_a_file_that_is_written_while_it_is_read_is_refused(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = notes.put("a.md", "# A\n\nOne.\n")
    notes.put("b.txt", "stays")
    real = os.fstat
    seen: list[int] = []

    def fstat(number: int) -> os.stat_result:
        # The first look at the first file; then somebody writes.
        if not seen:
            seen.append(number)
            status = real(number)
            path.write_text("# A\n\nTwo, and more.\n")
            return status
        return real(number)

    monkeypatch.setattr("api.files.opening.os.fstat", fstat)
    report = notes.ingest()
    assert reasons(report) == {"a.md": "changed while it was read; ingest it again"}
    assert notes.size() == 1


def test_names_that_are_not_utf8_are_stored(notes: Notes) -> None:
    (Path(os.fsdecode(os.fsencode(notes.folder) + b"/caf\xe9.txt"))).write_text("coffee")
    assert reasons(notes.ingest()) == {}
    assert notes.get("caf%E9.txt")["body"] == "coffee"
    assert notes.ingest().unchanged == 1


def test_ignore_files_and_patterns_are_obeyed(notes: Notes) -> None:
    notes.put(".gitignore", "*.log\n!keep.log\nbuild/\n")
    for name in ("a.log", "keep.log", "build/a.txt", "node_modules/a.txt", "sub/b.log", "sub/c.txt", "d.md"):
        notes.put(name, "text")
    notes.put("sub/.quarryignore", "c.txt\n!b.log\n")
    names = {entry.name for entry in find(Plan(paths=(notes.folder,))) if isinstance(entry, Found)}
    assert names == {"keep.log", "sub/b.log", "d.md"}
    only = Plan(paths=(notes.folder,), selection=Selection(include=("*.md", "*.log"), exclude=("sub/",)))
    assert {e.name for e in find(only) if isinstance(e, Found)} == {"keep.log", "d.md"}


def test_changed_files_replace_and_sections_that_left_go(notes: Notes) -> None:
    notes.put("a.md", "Top.\n\n# One\n\nx\n\n# Two\n\ny\n")
    notes.put("b.txt", "stays")
    assert notes.ingest().documents == 4
    notes.put("a.md", "Top, changed.\n\n# Two\n\ny\n")
    report = notes.ingest()
    assert (report.documents, report.removed, report.unchanged) == (2, 1, 1)
    assert notes.get("a.md")["body"] == "Top, changed."
    assert not notes.has("a.md#one")


def test_rows_that_left_their_file_go_unless_something_was_refused(notes: Notes) -> None:
    notes.put("a.jsonl", '{"id": "1", "n": 1}\n{"id": "2", "n": 2}\n')
    notes.ingest()
    notes.put("a.jsonl", '{"id": "1", "n": 1}\n{"id": "2", \n')
    notes.ingest()
    assert notes.has("2")
    notes.put("a.jsonl", '{"id": "1", "n": 1}\n')
    assert notes.ingest().removed == 1
    assert not notes.has("2")


def test_prune_removes_what_is_gone_and_nothing_else(notes: Notes) -> None:
    notes.put("a.md", "# One\n\nx\n\n# Two\n\ny\n")
    notes.put("sub/b.txt", "stays")
    broken = notes.put("c.pdf", made.pdf("page"))
    notes.quarry.upsert(notes.name, [{"id": "by hand", "body": "z"}])
    notes.ingest()
    (notes.folder / "a.md").unlink()
    broken.write_bytes(b"damaged now")
    assert notes.ingest().removed == 0
    assert notes.ingest(prune=True).removed == 2
    assert [notes.has(each) for each in ("a.md", "a.md#two", "sub/b.txt", "c.pdf", "by hand")] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_prune_does_not_believe_an_empty_folder(notes: Notes) -> None:
    notes.put("a.txt", "x")
    notes.ingest()
    (notes.folder / "a.txt").unlink()
    report = notes.ingest(prune=True)
    assert notes.has("a.txt")
    assert "nothing is pruned" in report.notes[0]


def test_an_unchanged_file_whose_document_was_deleted_comes_back(notes: Notes) -> None:
    notes.put("a.txt", "x")
    notes.ingest()
    notes.quarry.delete(notes.name, document_ids=["a.txt"])
    assert notes.ingest().documents == 1


def test_a_lost_ledger_costs_time_only(notes: Notes) -> None:
    notes.put("a.md", "# One\n\nx\n\n# Two\n\ny\n")
    notes.ingest()
    (notes.data / FILE_NAME).unlink()
    assert notes.ingest().documents == 2
    assert notes.size() == 2


def test_a_run_that_was_cut_off_goes_on_where_it_was(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        notes.put(name, name)
    monkeypatch.setattr("api.files.store.BATCH_DOCUMENTS", 1)
    asked = Plan(paths=(notes.folder,))
    report = Report()
    store = Store(OpenedTarget(notes.quarry), notes.name, None, notes.data, report)

    def advance(size: int) -> None:
        if report.documents == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ingestion(asked, store, report, advance).run(find(asked))
    store.close()
    again = notes.ingest()
    assert (again.unchanged + again.documents, notes.size()) == (3, 3)
    assert again.unchanged >= 1


def test_two_folders_of_one_layout_are_kept_apart(notes: Notes) -> None:
    notes.put("one/a.txt", "first")
    notes.put("two/a.txt", "second")
    notes.ingest(notes.folder / "one")
    report = notes.ingest(notes.folder / "two")
    assert "give --prefix" in reasons(report)["a.txt"]
    notes.ingest(notes.folder / "two", prefix="two/")
    assert (notes.get("a.txt")["body"], notes.get("two/a.txt")["body"]) == ("first", "second")


def test_a_folder_that_moved_keeps_its_documents(notes: Notes) -> None:
    notes.put("old/a.txt", "text")
    notes.ingest(notes.folder / "old")
    (notes.folder / "old").rename(notes.folder / "new")
    assert reasons(notes.ingest(notes.folder / "new")) == {}
    assert notes.size() == 1


def test_cells_take_the_types_of_the_schema(notes: Notes) -> None:
    schema = {
        "year": {"type": "int", "is_filterable": True},
        "price": {"type": "float"},
        "open": {"type": "bool", "is_filterable": True},
        "seen": {"type": "datetime", "is_filterable": True},
        "tags": {"type": "[]string", "is_filterable": True},
        "marks": {"type": "[]int"},
    }
    notes.put(
        "a.csv",
        "Nr;year;price;open;seen;tags;marks;spare\n1;2024;1.5;yes;2024-05-01;a|b;[1, 2];x\n"
        "2;soon;1;no;;;;\n3;1;1;0;x;;;\n",
    )
    report = notes.ingest(schema=schema, names={"Nr": "id", "spare": ""})
    assert notes.get("1") == {
        "id": "1",
        "year": 2024,
        "price": 1.5,
        "open": True,
        "seen": "2024-05-01",
        "tags": ["a", "b"],
        "marks": [1, 2],
    }
    assert set(reasons(report)) == {"a.csv:3", "a.csv:4"}
    assert reasons(report)["a.csv:3"] == "year is of type int, which 'soon' is not"
    notes.put("b.csv", "id,year\n9,1999\n")
    notes.ingest()
    assert notes.get("9")["year"] == 1999


def test_whole_number_ids_become_text_with_one_note(notes: Notes) -> None:
    notes.put("a.jsonl", '{"id": 7, "body": "x"}\n{"id": 8, "body": "y"}\n')
    report = notes.ingest()
    assert report.notes == ["a.jsonl: ids that are whole numbers are stored as text"]
    assert notes.get("7")["body"] == "x"


def test_bad_documents_are_refused_one_by_one(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"id": str(n), "n": n} for n in range(20)]
    lines[3]["id"] = "x" * (MAX_ID + 1)
    lines[7]["n"] = "no number"
    lines[9]["id"] = True
    notes.put("a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    report = notes.ingest()
    assert set(reasons(report)) == {"a.jsonl:4", "a.jsonl:8", "a.jsonl:10"}
    assert report.documents == 17


def test_a_file_of_nothing_but_faults_is_given_up(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.files.store.MOST_REFUSED", 3)
    notes.put("a.jsonl", '{"id": true}\n' * 50)
    notes.put("b.txt", "stays")
    report = notes.ingest()
    assert "too many faults" in report.refused[-1].reason
    assert notes.size() == 1


def test_front_matter_that_does_not_fit_costs_the_attribute_not_the_text(notes: Notes) -> None:
    notes.put("a.md", "---\ndate: 2024-05-01\nstars: 4\n---\nA.\n")
    notes.put("b.md", "---\ndate: some day\nstars: many\n---\nB.\n")
    report = notes.ingest()
    assert notes.get("b.md") == {"id": "b.md", "title": "b", "path": "b.md", "body": "B."}
    assert len(report.notes) == 2
    assert "attribute left out" in report.notes[0]


def test_files_join_a_namespace_whose_attributes_have_other_types(notes: Notes) -> None:
    notes.quarry.upsert(notes.name, [{"id": "1", "page": "one"}])
    notes.put("a.pdf", made.pdf("Text."))
    report = notes.ingest()
    assert reasons(report) == {}
    assert "page" not in notes.get("a.pdf")


def test_nothing_is_pruned_below_a_folder_that_cannot_be_read(notes: Notes) -> None:
    notes.put("sub/a.txt", "x")
    notes.put("b.txt", "y")
    notes.ingest()
    plan = Plan(paths=(notes.folder,), prune=True)
    found = [e for e in find(plan) if isinstance(e, Found) and e.name == "b.txt"]
    report = Report()
    store = Store(OpenedTarget(notes.quarry), notes.name, None, notes.data, report)
    fault = Left(str(notes.folder / "sub"), "Permission denied", is_fault=True)
    Ingestion(plan, store, report, lambda size: None).run([*found, fault])
    store.close()
    assert notes.has("sub/a.txt")


def test_a_full_disk_ends_the_run_and_the_next_one_stores_what_is_missing(notes: Notes, tmp_path: Path) -> None:
    notes.put("a.txt", "x")
    full = engine.StorageSettings(min_free_bytes=2**62)
    with engine.open(tmp_path / "disk", agent="offline", storage=full) as quarry:
        cramped = Notes.__new__(Notes)
        vars(cramped).update(vars(notes), quarry=quarry)
        with pytest.raises(engine.StorageFull):
            cramped.ingest()
        assert quarry.namespaces() == []
    with engine.open(tmp_path / "disk", agent="offline") as quarry:
        vars(cramped).update(quarry=quarry)
        assert cramped.ingest().documents == 1


def test_a_damaged_ledger_is_named_with_the_remedy(notes: Notes) -> None:
    notes.put("a.txt", "x")
    (notes.data / FILE_NAME).write_bytes(b"no database " * 100)
    with pytest.raises(LedgerError, match="remove it"):
        notes.ingest()
    (notes.data / FILE_NAME).unlink()
    assert notes.ingest().documents == 1
