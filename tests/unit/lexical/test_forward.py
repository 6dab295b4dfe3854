"""The forward index gives what the texts give, whatever was written, merged, saved, damaged and removed before."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import StorageFull
from engine.lexical import forward, forward_file
from engine.lexical.forward import ForwardIndex, ForwardPassage
from engine.model.document import Passage
from engine.ranking.passage_terms import PassageTerms

TEXTS = (
    "The ferries leave the harbour at noon.",
    "",
    "Die Häuser an der Straße sind nicht so alt wie die Kirche und der Markt.",
    "中文分词是一个难题。",
    "Mercury is the planet nearest to the sun, and Pellam a town.",
)
HEADERS = ("", "Mercury (planet)", "Pellam · Bridges of the north (list)", "中文 · Köln")


def passages(count: int, first: int = 0) -> list[Passage]:
    return [
        Passage(
            label=label,
            document_id=f"d{label // 2}é",
            attribute="body",
            start=0,
            end=1,
            text=TEXTS[label % len(TEXTS)],
            header=HEADERS[label // 2 % len(HEADERS)],
        )
        for label in range(first, first + count)
    ]


def as_given(held: list[Passage]) -> list[ForwardPassage]:
    return [ForwardPassage(p) for p in held]


def columns(terms: PassageTerms | None) -> list[object]:
    assert terms is not None
    texts = (terms.bodies, terms.headers, terms.names)
    return [
        terms.labels.tolist(),
        terms.documents,
        terms.named.tolist(),
        *((text.terms.tolist(), text.lengths.tolist()) for text in texts),
    ]


def assert_same(index: ForwardIndex, held: list[Passage], labels: list[int]) -> None:
    of = {passage.label: passage for passage in held}
    from_texts = PassageTerms.of([of[label] for label in labels])
    assert columns(index.reader().terms(np.array(labels, np.int64))) == columns(from_texts)
    read = index.reader().passages(np.array(labels, np.int64))
    assert read is not None
    assert {passage.label: passage for passage in read} == {label: of[label] for label in labels}


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    saves=st.sets(st.integers(0, 11)),
    data=st.data(),
)
def test_terms_are_those_of_the_texts_however_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], saves: set[int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("forward")
    index, _ = ForwardIndex.open(folder)
    held: list[Passage] = []
    for number, size in enumerate(sizes):
        fresh = passages(size, len(held))
        index.add(as_given(fresh))
        held += fresh
        if number in saves:
            index.save(number, np.arange(len(held)))
    wanted = data.draw(st.lists(st.sampled_from([p.label for p in held]), unique=True, min_size=1))
    assert_same(index, held, wanted)
    index.save(99, np.arange(len(held)))
    again, seq = ForwardIndex.open(folder)
    assert seq == 99
    assert_same(again, held, wanted)
    assert again.problems() == []


def test_an_unknown_label_gives_nothing_so_that_texts_are_read(tmp_path: Path) -> None:
    index, seq = ForwardIndex.open(tmp_path)
    assert seq == 0
    assert index.reader().terms(np.array([0])) is None
    index.add(as_given(passages(4, 10)))
    assert [index.reader().terms(np.array([label])) is None for label in (9, 10, 13, 14)] == [True, False, False, True]


def test_readers_keep_what_they_saw(tmp_path: Path) -> None:
    index, _ = ForwardIndex.open(tmp_path)
    index.add(as_given(passages(4)))
    before = index.reader()
    index.add(as_given(passages(4, 4)))
    index.clear()
    assert before.terms(np.array([3])) is not None
    assert before.terms(np.array([5])) is None
    assert index.reader().terms(np.array([3])) is None


def test_single_passages_do_not_make_a_segment_each(tmp_path: Path) -> None:
    index, _ = ForwardIndex.open(tmp_path)
    held = passages(200)
    for passage in held:
        index.add(as_given([passage]))
    assert len(index.reader()._segments) <= 9
    assert_same(index, held, [199, 0, 64, 100])


def test_files_are_merged_and_removed_passages_leave_them(tmp_path: Path) -> None:
    index, _ = ForwardIndex.open(tmp_path)
    held = passages(100)
    for number in range(10):
        index.add(as_given(held[10 * number : 10 * number + 10]))
        index.save(number, np.arange(10 * number + 10))
    assert len(list(tmp_path.glob("*.terms"))) <= forward.MOST_FILES
    live = np.arange(0, 100, 2)
    index.save(20, live)
    assert [path.name for path in tmp_path.glob("*.terms")] == ["10.terms"]
    assert len(index) == 50
    assert_same(index, held, [98, 0, 42])
    assert_same(ForwardIndex.open(tmp_path)[0], held, [98, 0, 42])


def test_everything_removed_leaves_no_file(tmp_path: Path) -> None:
    index, _ = ForwardIndex.open(tmp_path)
    index.add(as_given(passages(10)))
    index.save(1, np.arange(10))
    index.save(2, np.empty(0, np.int64))
    assert list(tmp_path.glob("*.terms")) == []
    again, seq = ForwardIndex.open(tmp_path)
    assert (len(again), seq) == (0, 2)


def saved(folder: Path) -> Path:
    index, _ = ForwardIndex.open(folder)
    index.add(as_given(passages(40)))
    index.save(7, np.arange(40))
    return folder / "0.terms"


@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_a_flipped_bit_is_found_at_opening(tmp_path: Path, part: float) -> None:
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    content[int(part * len(content))] ^= 4
    path.write_bytes(content)
    index, seq = ForwardIndex.open(tmp_path)
    assert (len(index), seq) == (0, 0)


@pytest.mark.parametrize("name", ["0.terms", "held.json"])
@pytest.mark.parametrize("left", [0, 20])
def test_a_file_cut_short_or_missing_means_empty(tmp_path: Path, name: str, left: int) -> None:
    saved(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:left])
    assert ForwardIndex.open(tmp_path)[1] == 0
    saved(tmp_path)
    path.unlink()
    assert ForwardIndex.open(tmp_path)[1] == 0


def test_a_side_file_that_was_changed_or_is_of_another_analysis_means_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path)
    side = tmp_path / "held.json"
    side.write_bytes(side.read_bytes().replace(b'"applied_seq":7', b'"applied_seq":8'))
    assert ForwardIndex.open(tmp_path)[1] == 0
    saved(tmp_path)
    monkeypatch.setattr("engine.lexical.forward_file.FORMAT", "of tomorrow")
    assert ForwardIndex.open(tmp_path)[1] == 0


def test_large_files_are_checked_beside_the_first_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path)
    monkeypatch.setattr(forward, "CHECKED_AT_ONCE", 10)
    index, seq = ForwardIndex.open(tmp_path)
    index.close()
    assert seq == 7
    assert_same(index, passages(40), [39, 0])


def test_damage_that_is_found_late_is_never_read_nor_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    monkeypatch.setattr(forward, "CHECKED_AT_ONCE", 10)
    index, _ = ForwardIndex.open(tmp_path)
    index.close()
    assert index.reader().terms(np.array([0])) is None
    index.add(as_given(passages(4, 40)))
    index.save(8, np.arange(44))
    assert ForwardIndex.open(tmp_path)[1] == 0


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "1.terms").write_bytes(struct.pack("<q", 5))
    (tmp_path / "held.json.new").write_bytes(b"{")
    assert ForwardIndex.open(tmp_path)[1] == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.terms", "held.json"]


def test_a_full_disk_keeps_what_was_saved_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path)
    index, _ = ForwardIndex.open(tmp_path)
    index.add(as_given(passages(4, 40)))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(StorageFull):
            index.save(8, np.arange(44))
    assert_same(index, passages(44), [43, 0])
    assert ForwardIndex.open(tmp_path)[1] == 7
    index.save(8, np.arange(44))
    assert_same(ForwardIndex.open(tmp_path)[0], passages(44), [43, 0])


def test_a_passage_that_was_damaged_after_opening_is_unknown(tmp_path: Path) -> None:
    held = passages(9)
    filled, _ = ForwardIndex.open(tmp_path)
    filled.add(as_given(held))
    filled.save(1, np.arange(9))
    index, _ = ForwardIndex.open(tmp_path)
    path = tmp_path / "0.terms"
    with path.open("r+b") as file:
        # Passages stand last in the file.
        file.seek(-3, 2)
        file.write(b"\0\0\0")
    assert index.reader().passages(np.array([7], np.int64)) == [held[7]]
    assert index.reader().passages(np.array([7, 8], np.int64)) is None


def test_passages_of_a_large_file_are_read_from_it_and_from_its_map_once_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward_file, "LEAST_BYTES", 0)
    held = passages(9)
    index, _ = ForwardIndex.open(tmp_path)
    index.add(as_given(held))
    index.save(1, np.arange(9))
    reader, wanted = index.reader(), np.array([4, 7], np.int64)
    assert reader.passages(wanted) == [held[4], held[7]]
    path = tmp_path / "0.terms"
    path.rename(tmp_path / "0.before")
    (tmp_path / "0.terms").write_bytes(b"of another index" * 1_000)
    assert reader.passages(wanted) == [held[4], held[7]]
