"""A data directory with a namespace of notes, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

NOTES = [
    {
        "id": "1",
        "title": "Storm",
        "body": "The storm closed the harbour for three days in May. " + "It rained. " * 60,
        "year": 2023,
    },
    {"id": "2", "title": "Timetable", "body": "The ferry to Ness sails at nine and at five.", "year": 2024},
    {"id": "3", "title": "Dogs", "body": "Dogs must be kept on a lead on the ferry.", "year": 2024},
]
SCHEMA = {"year": {"type": "int", "is_filterable": True}}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integrations") / "data"
    with engine.open(folder, agent="offline") as quarry:
        quarry.upsert("notes", NOTES, SCHEMA)
        (folder.parent / "key").write_text(quarry.keys.create("assistant", scopes=("read", "search"))[1])
        (folder.parent / "weak").write_text(quarry.keys.create("weak", scopes=("read",))[1])
        (folder.parent / "other").write_text(quarry.for_company("other").keys.create("x")[1])
    return folder


@pytest.fixture(scope="module")
def quarry(data: Path) -> Iterator[engine.Engine]:
    with engine.open(data, agent="offline") as opened:
        yield opened
