"""Parsers of others in their process: whatever happens there costs one file."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.files.foreign import ForeignReader
from api.files.kinds import BY_NAME, KindName
from api.files.pieces import Options, Part, Refusal, SkippedFile, Source, UnreadableFile
from tests.unit.files import made_files as made

ENDLESS = b"<div>" * 300_000
"""Elements inside one another keep the parser busy for minutes."""


class Files:
    def __init__(self, folder: Path, patience_s: float) -> None:
        self.path = folder / "file"
        self.reader = ForeignReader(patience_s)
        self.notes: list[str] = []

    def read(self, kind: KindName, content: bytes) -> list[Part | Refusal]:
        self.path.write_bytes(content)
        with self.path.open("rb") as file:
            asked = Source(name="a", size=len(content), file=file, options=Options(), note=self.notes.append)
            return list(self.reader.read(BY_NAME[kind], asked))

    @property
    def child(self) -> int:
        assert self.reader._child is not None
        return self.reader._child.pid


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    made_files = Files(tmp_path, 30)
    yield made_files
    made_files.reader.close()


def test_one_process_reads_file_after_file(files: Files) -> None:
    assert [part.body for part in files.read("pdf", made.pdf("One.", "Two."))] == ["One.", "Two."]
    child = files.child
    with pytest.raises(UnreadableFile, match="damaged"):
        files.read("docx", b"rubbish")
    with pytest.raises(SkippedFile):
        files.read("pdf", made.pdf(""))
    assert len(files.read("html", "<p>Größe, Straße, Käfer und Fähre später, früher</p>".encode("cp1252"))) == 1
    assert files.notes
    assert files.child == child


def test_a_parser_that_hangs_costs_its_file_and_the_next_is_read(files: Files) -> None:
    impatient = ForeignReader(patience_s=1.0)
    files.reader, patient = impatient, files.reader
    with pytest.raises(UnreadableFile, match="no end of reading"):
        files.read("html", ENDLESS)
    files.reader = patient
    assert [part.body for part in files.read("html", b"<p>Text.")] == ["Text."]


def test_a_parser_that_dies_costs_its_file_and_the_next_is_read(files: Files) -> None:
    files.read("html", b"<p>Text.")
    first = files.child
    threading.Timer(0.3, os.kill, (first, signal.SIGKILL)).start()
    with pytest.raises(UnreadableFile, match="crashed"):
        files.read("html", ENDLESS)
    assert [part.body for part in files.read("html", b"<p>Again.")] == ["Again."]
    assert files.child != first
