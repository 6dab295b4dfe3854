"""What damages a lexical index is noticed: values of a wrong type, lost commits, flipped bits, panics."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from engine.errors import CorruptData, StorageError
from engine.lexical import native
from engine.lexical.footprint import SIDE_FILE
from engine.lexical.index import LexicalIndex, LexicalPassage, LexicalQuery

NONE = np.empty(0, np.int64)


def fill(folder: Path, first: int = 0, passages: int = 300, seq: int = 1) -> None:
    index, _ = LexicalIndex.open(folder)
    index.apply(
        [LexicalPassage(n, f"header {n}", f"body number {n} tide {n % 7}") for n in range(first, first + passages)],
        NONE,
        seq,
    )
    index.close()


def test_a_flipped_bit_is_noticed_when_the_index_is_opened(tmp_path: Path) -> None:
    fill(tmp_path / "whole")
    rng = np.random.default_rng(5)
    files = [
        path
        for path in (tmp_path / "whole").iterdir()
        if path.suffix in {".idx", ".term", ".fieldnorm", ".fast", ".store"}
    ]
    assert files
    for turn in range(60):
        broken = tmp_path / f"broken{turn}"
        shutil.copytree(tmp_path / "whole", broken)
        path = broken / files[turn % len(files)].name
        content = bytearray(path.read_bytes())
        # The footer itself (94 bytes) holds the checksum and a version that nobody reads.
        content[rng.integers(len(content) - 94)] ^= 1 << int(rng.integers(8))
        path.write_bytes(content)
        with pytest.raises(CorruptData):
            LexicalIndex.open(broken)
        shutil.rmtree(broken)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_noticed(tmp_path: Path, share: float) -> None:
    fill(tmp_path / "lexical")
    path = next((tmp_path / "lexical").glob("*.idx"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(CorruptData):
        LexicalIndex.open(tmp_path / "lexical")


@pytest.mark.parametrize("name", ["meta.json", SIDE_FILE])
def test_a_missing_or_garbled_state_is_noticed(tmp_path: Path, name: str) -> None:
    fill(tmp_path / "lexical")
    (tmp_path / "lexical" / name).write_bytes(b"{")
    with pytest.raises(CorruptData):
        LexicalIndex.open(tmp_path / "lexical")


def test_a_missing_segment_file_is_noticed(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    next((tmp_path / "lexical").glob("*.idx")).unlink()
    with pytest.raises(CorruptData):
        LexicalIndex.open(tmp_path / "lexical")


def test_a_commit_that_the_disk_lost_is_noticed(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    older = (tmp_path / "lexical" / "meta.json").read_bytes()
    fill(tmp_path / "lexical", first=300, seq=2)
    assert json.loads(older)["opstamp"] < json.loads((tmp_path / "lexical" / "meta.json").read_bytes())["opstamp"]
    (tmp_path / "lexical" / "meta.json").write_bytes(older)
    with pytest.raises(CorruptData):
        LexicalIndex.open(tmp_path / "lexical")


def test_another_format_is_rebuilt_not_read(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    side = tmp_path / "lexical" / SIDE_FILE
    side.write_bytes(side.read_bytes().replace(b"analyzer", b"analyser"))
    with pytest.raises(CorruptData):
        LexicalIndex.open(tmp_path / "lexical")


def test_a_first_commit_that_was_cut_short_is_forgotten(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    (tmp_path / "lexical" / SIDE_FILE).unlink()
    index, seq = LexicalIndex.open(tmp_path / "lexical")
    assert (seq, index.reader().num_passages) == (0, 0)


def test_temporary_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    (tmp_path / "lexical" / ".tmpAb12Cd").write_bytes(b"half")
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.close()
    assert not list((tmp_path / "lexical").glob(".tmp*"))


@pytest.mark.parametrize("whole", [True, False])
def test_a_commit_that_was_cut_short_does_not_stand_in_the_way_of_the_next(tmp_path: Path, *, whole: bool) -> None:
    fill(tmp_path / "lexical")
    shutil.copytree(tmp_path / "lexical", tmp_path / "killed")
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply([], np.arange(3), 2)
    index.close()
    (left,) = (tmp_path / "lexical").glob("*.del")
    (tmp_path / "killed" / left.name).write_bytes(left.read_bytes() if whole else b"half")
    index, seq = LexicalIndex.open(tmp_path / "killed")
    index.apply([], np.arange(3), seq + 1)
    held = index.reader().num_passages
    index.close()
    assert (seq, held) == (1, 297)


def test_passages_of_a_commit_that_was_not_written_down_are_not_doubled(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    side = (tmp_path / "lexical" / SIDE_FILE).read_bytes()
    fill(tmp_path / "lexical", first=300, seq=2)
    (tmp_path / "lexical" / SIDE_FILE).write_bytes(side)
    # A replay in two parts, the first of which is interrupted as well.
    parts = [[LexicalPassage(n, "", f"body number {n}") for n in range(a, a + 150)] for a in (300, 450)]
    index, seq = LexicalIndex.open(tmp_path / "lexical")
    index.apply(parts[0], NONE, seq)
    index.close()
    index, seq = LexicalIndex.open(tmp_path / "lexical")
    for part in parts:
        index.apply(part, NONE, seq)
    index.apply([], NONE, 2)
    held = index.reader().num_passages
    index.close()
    assert (seq, held) == (1, 600)


def test_a_panic_becomes_an_error_of_ours() -> None:
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("body").build()
    with pytest.raises(CorruptData), native.translated("search"):
        tantivy.Index(schema).searcher().search(tantivy.Query.all_query(), 0)


def test_an_interrupt_is_never_translated() -> None:
    with pytest.raises(KeyboardInterrupt), native.translated("search"):
        raise KeyboardInterrupt


def test_a_second_writer_on_the_same_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    fill(tmp_path / "lexical")
    first, _ = LexicalIndex.open(tmp_path / "lexical")
    second, _ = LexicalIndex.open(tmp_path / "lexical")
    first.apply([LexicalPassage(900, "", "pelican")], NONE, 2)
    with pytest.raises(StorageError):
        second.apply([LexicalPassage(901, "", "albatross")], NONE, 2)
    first.apply([LexicalPassage(902, "", "pelican")], NONE, 3)
    assert first.reader().search(LexicalQuery("pelican"), 5).labels.tolist() == [900, 902]
    first.close()
