"""Figures that changed, sections that a version heads, and questions for yes or no: through the engine."""

from collections.abc import Iterator

import pytest

import engine
from engine import Engine

TEXT = {"type": "string", "is_searchable": True}
DATE = {"type": "datetime", "is_filterable": True}
NOTES = [
    ("n1", "Minutes of 4 March", "2026-03-04", "The budget for the fair is 3,000 euros. Nobody has booked the stage."),
    ("n2", "Minutes of 6 May", "2026-05-06", "The budget for the fair is 4,500 euros. Ines Karr keeps the keys."),
    ("n3", "Changelog", "2026-04-01", "## 3.0.7 (2026-03-18)\n- A fix.\n\n## 3.0.0 (2026-01-09)\n- Added dark mode."),
    ("n4", "Requirements", "2026-01-02", "The program needs 4 GB of memory. Linux is not supported."),
    ("n5", "Rules", "2026-01-02", "Dogs are allowed in the office on Fridays. Guests must sign the book."),
    ("d1", "Blatt 4", "2026-03-04", "Die Pacht des Gartens beträgt 300 Euro. Rauchen ist im Lager nicht erlaubt."),
    ("d2", "Blatt 6", "2026-05-06", "Die Pacht des Gartens beträgt 450 Euro. Die Leiter steht im Keller."),
]  # fmt: skip


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine.open(tmp_path_factory.mktemp("verdicts"), agent="offline") as opened:
        documents = [{"id": i, "title": t, "date": d, "body": b} for i, t, d, b in NOTES]
        opened.upsert("notes", documents, {"title": TEXT, "body": TEXT, "date": DATE})
        yield opened


def said(quarry: Engine, question: str) -> str:
    return quarry.search("notes", objective=question, context="Answer.").synthesis


@pytest.mark.parametrize(
    ("question", "newest", "older"),
    [
        ("How high is the budget for the fair?", "2026-05-06: The budget for the fair is 4,500", "2026-03-04"),
        ("Wie hoch ist die Pacht des Gartens?", "2026-05-06: Die Pacht des Gartens beträgt 450", "2026-03-04"),
    ],
)
def test_contradicting_figures_show_their_days_the_newest_first(
    quarry: Engine, question: str, newest: str, older: str
) -> None:
    answer = said(quarry, question)
    assert newest in answer.split(" [", 1)[0]
    assert older in answer.split(" [", 1)[1]


def test_a_section_has_its_own_day_and_not_that_of_its_document(quarry: Engine) -> None:
    assert said(quarry, "When was 3.0.7 released?").startswith("Changelog, 3.0.7 (2026-03-18)")


def test_a_sentence_below_a_version_is_labelled_with_it(quarry: Engine) -> None:
    assert said(quarry, "Which version added dark mode?").startswith("Changelog, 3.0.0 (2026-01-09): Added dark mode.")


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("Is Linux supported?", "No — "),
        ("Ist Rauchen im Lager erlaubt?", "Nein — "),
        ("Are dogs allowed in the office?", "Rules: Dogs"),
        ("Does Ines Karr keep the keys?", "Yes — "),
    ],
)
def test_a_verdict_opens_the_answer_only_where_one_sentence_says_just_what_is_asked(
    quarry: Engine, question: str, opening: str
) -> None:
    assert said(quarry, question).startswith(opening)
