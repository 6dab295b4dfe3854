"""The offline agent over collections too small for statistics: it answers what they answer and refuses the rest."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import engine
from tests.unit.agent.everyday import EVERYDAY, Everyday

SCHEMA = {"title": {"type": "string", "is_searchable": True}, "body": {"type": "string", "is_searchable": True}}
LONGEST_TITLE = 40


def documents(collection: Everyday) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, text in enumerate(collection.documents):
        title, colon, body = text.partition(": ")
        titled = colon and len(title) < LONGEST_TITLE
        found.append({"id": str(number), "title": title if titled else "", "body": body if titled else text})
    return found


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Generator[engine.Engine]:
    with engine.open(tmp_path_factory.mktemp("everyday") / "data", agent="offline") as opened:
        for number, collection in enumerate(EVERYDAY):
            opened.upsert(f"n{number}", documents(collection), SCHEMA)
        yield opened


def is_answered(quarry: engine.Engine, collection: Everyday, question: str) -> bool:
    name = f"n{EVERYDAY.index(collection)}"
    return bool(quarry.search(name, objective=question, context="Everyday questions.").results)


@pytest.mark.parametrize("half", ["a", "b"])
def test_nearly_every_question_that_a_document_answers_is_answered(quarry: engine.Engine, half: str) -> None:
    asked = [(c, q) for c in EVERYDAY if c.half == half for q in c.answered]
    refused = [q for c, q in asked if not is_answered(quarry, c, q)]
    assert len(refused) <= 0.06 * len(asked), refused


@pytest.mark.parametrize("half", ["a", "b"])
def test_nearly_every_question_about_something_else_is_refused(quarry: engine.Engine, half: str) -> None:
    asked = [(c, q) for c in EVERYDAY if c.half == half for q in c.unanswered]
    answered = [q for c, q in asked if is_answered(quarry, c, q)]
    assert len(answered) <= 0.06 * len(asked), answered


def test_three_notes_are_enough_to_answer_and_to_refuse(quarry: engine.Engine) -> None:
    animals = EVERYDAY[0]
    found = quarry.search("n0", objective="How long do cats sleep?", context="A child asks.")
    assert "13 hours" in found.results[0].finding
    assert not is_answered(quarry, animals, "How much does a hamster cost?")
