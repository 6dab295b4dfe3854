"""Documents, page by page."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

import engine
from engine import InvalidDocument, InvalidRequest, UnknownAttribute
from engine.backend.embedded import paging
from tests.embedders import HashingEmbedder


@pytest.fixture
def quarry(tmp_path: Path) -> Generator[engine.Engine]:
    with engine.open(tmp_path / "data", embedder=HashingEmbedder(), agent="offline") as opened:
        yield opened


def test_documents_are_listed_as_they_were_uploaded(quarry: engine.Engine) -> None:
    documents = [{"id": str(n), "n": n, "nested": {"n": [n]}} for n in range(5)]
    quarry.upsert("n", documents, {"n": {"type": "int", "is_filterable": True}})
    first = quarry.documents("n", limit=3)
    assert first.documents == documents[:3]
    assert quarry.documents("n", limit=3, cursor=first.next_cursor) == (documents[3:], None)
    assert quarry.documents("n", {"n": {"$gte": 3}}).documents == documents[3:]
    with pytest.raises(UnknownAttribute):
        quarry.documents("n", {"unheard": 1})
    for limit in (0, 1_001):
        with pytest.raises(InvalidRequest):
            quarry.documents("n", limit=limit)


def test_a_page_of_large_documents_is_shorter_but_never_empty(
    quarry: engine.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_BYTES", 1_000)
    quarry.upsert("n", [{"id": str(n), "text": "x" * size} for n, size in enumerate((400, 400, 400, 5_000, 10))])
    lengths: list[int] = []
    cursor = None
    while True:
        page = quarry.documents("n", cursor=cursor)
        lengths.append(len(page.documents))
        cursor = page.next_cursor
        if cursor is None:
            break
    assert lengths == [2, 1, 1, 1]


def test_a_cursor_is_refused_by_another_namespace_that_was_made_alike(quarry: engine.Engine) -> None:
    for name in ("one", "two"):
        quarry.upsert(name, [{"id": f"d{number}", "text": "Ferries leave at noon."} for number in range(3)])
    cursor = quarry.documents("one", limit=1).next_cursor
    with pytest.raises(engine.InvalidRequest):
        quarry.documents("two", cursor=cursor)
    assert len(quarry.documents("one", cursor=cursor).documents) == 2


def test_a_cursor_from_before_a_reindex_is_refused_and_not_misread(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": str(n), "text": "rope"} for n in range(9)])
    quarry.delete("n", document_ids=["0", "1", "2"])
    before = quarry.documents("n", limit=2).next_cursor
    quarry.reindex("n")
    with pytest.raises(InvalidRequest, match="anew"):
        quarry.documents("n", cursor=before)


def test_several_documents_are_got_at_once(quarry: engine.Engine) -> None:
    quarry.upsert("n", [{"id": "a", "n": 1}, {"id": "b"}])
    assert quarry.get_many("n", ["b", "unheard", "a", "b"]) == {"a": {"id": "a", "n": 1}, "b": {"id": "b"}}


@pytest.mark.parametrize("name", [".", ".."])
def test_an_id_that_paths_cannot_carry_is_refused(quarry: engine.Engine, name: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        quarry.upsert("n", [{"id": name}])
    assert refused.value.path == "documents[0].id"
