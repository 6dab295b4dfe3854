"""The collections that the project brings itself: everyday texts and the invented encyclopaedia."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday, said
from benchmarks.encyclopaedia import FORMS, LANGUAGES, QUESTIONS, Encyclopaedia
from benchmarks.said import holds

FOLDER = Path(everyday.__file__).parent


def questions_of(path: Path) -> list[dict[str, Any]]:
    held = json.loads(path.read_text(encoding="utf-8"))
    return [asked for question in held["questions"] for asked in (question, *question.get("then", ()))]


def test_each_everyday_answer_stands_in_its_documents() -> None:
    for path in FOLDER.glob("*/*.json"):
        documents = json.loads(path.read_text(encoding="utf-8"))["documents"]
        text = "\n".join(str(value) for document in documents for value in document.values())
        for asked in questions_of(path):
            for part in asked.get("answer", ()):
                assert any(holds(text, form) for form in part), f"a question of {path.name} has no answer there"


def test_the_everyday_halves_have_each_language_and_nothing_in_common() -> None:
    held = {half: sorted((FOLDER / half).glob("*.json")) for half in ("open", "closed")}
    languages = {
        half: {json.loads(path.read_text(encoding="utf-8"))["language"] for path in paths}
        for half, paths in held.items()
    }
    assert languages["open"] == languages["closed"]
    assert len(languages["open"]) >= 9
    texts = {half: {asked["text"] for path in paths for asked in questions_of(path)} for half, paths in held.items()}
    # A short follow-up ("Why?") may be asked twice.
    assert all(len(text) < 25 for text in texts["open"] & texts["closed"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_encyclopaedia_is_the_same_every_time_and_holds_its_answers(language: str) -> None:
    made = Encyclopaedia(language)
    documents, questions = made.documents(), made.questions()
    again = Encyclopaedia(language)
    assert (again.documents(), again.questions()) == (documents, questions)
    assert len(questions) == QUESTIONS * len(FORMS)
    bodies = {document["id"]: f"{document['title']} {document['body']}" for document in documents}
    assert len(bodies) == len(documents)
    assert len({document["title"] for document in documents}) == len(documents)
    for asked in questions:
        texts = [bodies[id_] for id_ in asked.evidence]
        assert len(texts) >= 2
        if asked.form == "inference":  # Others ask for what follows from the texts: a country, yes or no.
            assert any(holds(text, asked.answer) for text in texts)


def test_the_examples_of_reading_answers_hold() -> None:
    assert doctest.testmod(said).failed == 0
    assert doctest.testmod(said).attempted > 0
