"""Files and folders to documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli.files import UnreadableFile, discover, read_documents


def read(*paths: Path) -> list[dict]:
    return [found.document for found in read_documents(discover(paths), advance=lambda size: None)]


def test_json_lines_keep_documents_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "1", "n": 1.5}\n\n{"id": "2", "tags": ["x"]}\n')
    assert read(file) == [{"id": "1", "n": 1.5}, {"id": "2", "tags": ["x"]}]


@pytest.mark.parametrize("text", ['[{"id": "1"}]', '{"documents": [{"id": "1"}]}', '{"id": "1"}'])
def test_json_files_hold_one_document_or_a_list(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    assert read(file) == [{"id": "1"}]


def test_a_table_gives_one_document_a_row_without_empty_cells(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('id,name,note\n7,"Ness, Isle",\n')
    assert read(file) == [{"id": "7", "name": "Ness, Isle"}]


def test_a_page_takes_its_title_from_its_first_heading(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("intro\n\n## The harbour ##\n\ntext")
    (document,) = read(file)
    assert document["title"] == "The harbour"
    assert document["body"].endswith("text")


def test_a_document_without_an_id_gets_one_of_its_place(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n{"a": 2}\n')
    assert [d["id"] for d in read(file)] == ["rows-1", "rows-2"]


def test_made_ids_are_never_too_long_and_stay_distinct(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text("text")
    ids = [d["id"] for d in read(folder)]
    assert len(set(ids)) == 2
    assert all(len(i) <= 64 for i in ids)


def test_folders_are_walked_in_order_without_hidden_entries(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden/c.txt", "d.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [f.name for f in discover([tmp_path])] == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.jsonl", b'{"id": "1"}\n{"id": \n', "a.jsonl:2"),
        ("a.jsonl", b"[1]\n", "a.jsonl:1"),
        ("a.json", b"[3]", "not a int"),
        ("a.csv", b"id,a\n1,2,3\n", "a.csv:2"),
        ("a.txt", b"\xff\xfe\xfa", "not UTF-8"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, fault: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(UnreadableFile, match=fault):
        read(file)


def test_unknown_files_and_empty_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no such file"):
        discover([tmp_path / "missing"])
    with pytest.raises(UnreadableFile, match="nothing to read"):
        discover([tmp_path])
    (tmp_path / "x.png").write_text("")
    with pytest.raises(UnreadableFile, match="unknown kind"):
        discover([tmp_path / "x.png"])
