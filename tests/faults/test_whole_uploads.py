"""Two databases and no shared commit: at whatever line a write is cut short, it is whole or it never was.

Each scenario is run twice over. Once a copy of the data directory is taken before each line, as ``kill -9`` would leave
it, and opened. Once a line raises, every 71st in turn (in the long form each, where it is met first): the process that
met the fault shows the write whole or not at all, goes on working, and shows what the next opening shows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import engine
from engine import NamespaceNotFound, QuarryError, StorageFull
from engine.backend.embedded import backend, columns, folders, opening, record, writer
from engine.ingest import pipeline
from engine.storage import catalog, catalog_file, manifest
from tests.embedders import HashingEmbedder
from tests.faults.extent import LONG, SHARE
from tests.faults.lines import each_line
from tests.faults.tally import Tally

MODULES = [pipeline, backend, writer, columns, record, opening, folders, catalog, catalog_file, manifest]
SCHEMA = {
    "body": {"type": "string", "is_searchable": True},
    "year": {"type": "int", "is_filterable": True},
    "colour": {"type": "string", "is_filterable": True},
}
NARROWER = {"colour": {"type": "string", "is_filterable": False}, "side": {"type": "string", "is_filterable": True}}
SEARCHED = {"note": {"type": "string", "is_searchable": True}}
BEFORE = [{"id": f"a{n}", "body": f"old{n}x ferry", "year": 2000 + n, "colour": "red"} for n in range(3)]
AFTER = [{"id": f"a{n}", "body": f"new{n}x ferry", "year": 2010 + n, "side": "l", "note": "keel"} for n in (1, 7)]


class Scenario(NamedTuple):
    prepare: Callable[[engine.Engine], None]
    change: Callable[[engine.Engine], Any]


def upload(quarry: engine.Engine) -> None:
    quarry.upsert("n", BEFORE, SCHEMA)


SCENARIOS = {
    "first upload": Scenario(lambda quarry: None, upload),
    "replacement": Scenario(upload, lambda quarry: quarry.upsert("n", AFTER)),
    "schema change": Scenario(upload, lambda quarry: quarry.upsert("n", AFTER, NARROWER)),
    "schema alone": Scenario(upload, lambda quarry: quarry.upsert("n", [], NARROWER)),
    "searched attributes": Scenario(upload, lambda quarry: quarry.upsert("n", AFTER, SEARCHED)),
    "deletion": Scenario(upload, lambda quarry: quarry.delete("n", document_ids=["a0", "a2"])),
    "reindex": Scenario(upload, lambda quarry: quarry.reindex("n")),
    "drop": Scenario(upload, lambda quarry: quarry.drop("n")),
}


def opened(folder: Path) -> engine.Engine:
    return engine.open(folder, embedder=HashingEmbedder(), agent="offline")


def seen(quarry: engine.Engine) -> object:
    """Everything that a caller can see of the data: lists, statistics, schema, documents, filters, both indexes."""
    names = [n.name for n in quarry.namespaces()]
    # Before anything opens a namespace, which tells the catalog what it holds.
    stats = [(s.name, s.documents, s.passages, s.problem) for s in quarry.stats()]
    assert quarry.check() == []
    if "n" not in names:
        with pytest.raises(NamespaceNotFound):
            quarry.get("n", "a0")
        return names, stats
    schema = quarry.namespace("n").schema
    documents: dict[str, object] = {}
    for document_id in ("a0", "a1", "a2", "a7"):
        try:
            documents[document_id] = quarry.get("n", document_id)
        except QuarryError:
            documents[document_id] = None
    filtered = {
        name: sorted(
            {h.document_id for h in quarry.retrieve("n", "ferry keel", k=50, filters={name: {"$exists": True}})}
        )
        for name in schema.filterable()
    }
    found = {
        (mode, text): sorted((h.document_id, h.text) for h in quarry.retrieve("n", text, k=50, mode=mode))
        for mode in ("lexical", "vector")
        for text in ("ferry", "keel", "old0x", "new1x")
    }
    return names, stats, schema.attributes, documents, filtered, found


def both(folder: Path, scenario: Scenario) -> tuple[object, object]:
    """What is seen before the change and after it, undisturbed."""
    with opened(folder) as quarry:
        scenario.prepare(quarry)
        before = seen(quarry)
        scenario.change(quarry)
        return before, seen(quarry)


def fingerprint(folder: Path) -> tuple[object, ...]:
    held = [(path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file()]
    return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in held)


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_before_any_line_a_write_is_whole_or_never_was(tmp_path: Path, name: str, tally: Tally) -> None:
    scenario = SCENARIOS[name]
    states = both(tmp_path / "calm", scenario)
    copies: list[tuple[str, Path]] = []
    known: set[object] = set()
    data = tmp_path / "data"

    def copy(function: str, line: int) -> None:
        print_ = fingerprint(data)
        if print_ not in known:
            known.add(print_)
            copies.append((f"{function}:{line}", tmp_path / f"copy{len(copies)}"))
            shutil.copytree(data, copies[-1][1])

    with opened(data) as quarry:
        scenario.prepare(quarry)
        with each_line(MODULES, copy):
            scenario.change(quarry)
        copy("end", 0)
    assert len(copies) > 3
    reached = set()
    for place, folder in copies:
        with tally.trial("killed before a line of a write, reindex or drop") as trial:
            with trial.recovering():
                quarry = opened(folder)
            with quarry:
                found = seen(quarry)
                assert found in states, place
                reached.add(states.index(found))
                assert sorted(path.name for path in (folder / "namespaces").iterdir()) == whole(quarry), place
                assert quarry.upsert("late", [{"id": "1", "body": "after the crash"}]) == 1
        shutil.rmtree(folder)
    assert 0 in reached
    assert states.index(states[1]) in reached


@pytest.mark.parametrize("name", SCENARIOS)
def test_where_any_line_fails_a_write_is_whole_or_never_was(tmp_path: Path, name: str, tally: Tally) -> None:
    scenario = SCENARIOS[name]
    states = both(tmp_path / "calm", scenario)
    prepared = tmp_path / "prepared"
    with opened(prepared) as quarry:
        scenario.prepare(quarry)
    lines: list[tuple[str, int]] = []
    shutil.copytree(prepared, tmp_path / "counted")
    with used(tmp_path / "counted") as quarry, each_line(MODULES, lambda *place: lines.append(place)):
        scenario.change(quarry)
    # Each line where it is met first; in the short form some, and those of later rounds too.
    firsts = [n for n, place in enumerate(lines) if lines.index(place) == n]
    chosen = firsts[:: max(1, round(1 / SHARE))] if LONG else range(0, len(lines), 71)
    passed = [0]
    for failing in chosen:
        folder = tmp_path / f"run{failing}"
        shutil.copytree(prepared, folder)

        def fail(function: str, line: int, failing: int = failing) -> None:
            passed[0] += 1
            if passed[0] == failing + 1:
                raise StorageFull(f"at {function}:{line}")

        with used(folder) as quarry:
            passed[0] = 0
            refused = ""
            try:
                with each_line(MODULES, fail):
                    scenario.change(quarry)
            except StorageFull as error:
                refused = error.message
            with tally.trial("a line of a write, reindex or drop fails; the process goes on"):
                living = seen(quarry)
                assert living in states, refused
                assert quarry.upsert("late", [{"id": "1", "body": "after the failure"}]) == 1
            quarry.drop("late")
        with tally.trial("a line of a write, reindex or drop fails; the next opening") as trial:
            with trial.recovering():
                quarry = opened(folder)
            with quarry:
                assert seen(quarry) == living, refused
                assert sorted(path.name for path in (folder / "namespaces").iterdir()) == whole(quarry)
        shutil.rmtree(folder)


def used(folder: Path) -> engine.Engine:
    """An engine that has used its namespace before."""
    quarry = opened(folder)
    if "n" in {n.name for n in quarry.namespaces()}:
        quarry.get("n", "a0")
    return quarry


def whole(quarry: engine.Engine) -> list[str]:
    """The folders that there are when nothing is left over."""
    return sorted(str(n.id) for n in quarry.namespaces())
