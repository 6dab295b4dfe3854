"""Bodies of a small namespace of long documents are read together, and are still what the database holds."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from engine.backend.embedded import remembered
from engine.storage import documents as documents_table

LONG = "All of it was said before, in other words and at length. " * 200


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the statements that were run for bodies."""
    run: list[str] = []
    for name in ("raw_bodies", "all_bodies"):
        held = getattr(documents_table, name)
        monkeypatch.setattr(
            documents_table, name, lambda *given, name=name, held=held: run.append(name) or held(*given)
        )
    return run


def test_several_missing_bodies_are_read_with_all_others_and_stay_true(tmp_path: Path, reads: list[str]) -> None:
    with engine.open(tmp_path / "data", agent="offline") as quarry:
        quarry.upsert("notes", [{"id": f"d{n}", "body": f"Number {n}. {LONG}"} for n in range(12)])
        first = [f"d{n}" for n in range(remembered.SEVERAL)]
        assert [body["id"] for body in quarry.get_many("notes", first).values()] == first
        assert quarry.get("notes", "d9")["body"].startswith("Number 9.")
        assert reads == ["all_bodies"]
        quarry.upsert("notes", [{"id": "d9", "body": "Changed."}])
        quarry.delete("notes", document_ids=["d8"])
        held = quarry.get_many("notes", [f"d{n}" for n in range(12)])
        assert held["d9"]["body"] == "Changed."
        assert "d8" not in held
        assert len(held) == 11
