"""What a question names by a value or a time, through the engine: lists, attributes, what comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import engine
from engine import Engine
from engine.model.search import MAX_RESULTS

TEXT = {"type": "string", "is_searchable": True}
LABEL = {"type": "string", "is_filterable": True}
DATE = {"type": "datetime", "is_filterable": True}
NOTES = [
    ("n1", "Changelog 4.2.0", "Folders are kept in step while you work.", "4.2.0", "2026-05-12", "L. Moreau"),
    ("n2", "Changelog 4.1.3", "Uploads of large files no longer fail.", "4.1.3", "2026-03-30", "K. Oduya"),
    ("n3", "Changelog 4.1.0", "A broken transfer goes on where it stopped.", "4.1.0", "2026-01-19", "L. Moreau"),
    ("n4", "Manual: install", "The server needs port 7731 open. The server is free.", "", "2025-10-06", "K. Oduya"),
]
MAILS = [
    ("m1", "Aufzug außer Betrieb", "Der Aufzug steht vom 9. bis 13. März still.", "Brandl", "2026-03-02"),
    ("m2", "Heizung im Keller", "Die Heizung im Keller wird im Mai gewartet.", "Brandl", "2026-04-13"),
    ("m3", "Fahrräder", "Die Fahrräder stehen im Hof.", "Frau Kessler", "2026-04-20"),
]


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine.open(tmp_path_factory.mktemp("listing"), agent="offline") as opened:
        opened.upsert(
            "notes",
            [
                {"id": i, "title": t, "body": b, "released": d, "author": a} | ({"version": v} if v else {})
                for i, t, b, v, d, a in NOTES
            ],
            {"title": TEXT, "body": TEXT, "version": LABEL, "author": LABEL, "released": DATE},
        )
        opened.upsert(
            "mails",
            [{"id": i, "title": t, "body": b, "von": a, "datum": d} for i, t, b, a, d in MAILS],
            {"title": TEXT, "body": TEXT, "von": LABEL, "datum": DATE},
        )
        opened.upsert(
            "tickets",
            [
                {"id": f"t{n}", "title": f"Ticket {n}", "body": f"The printer of room {n} jams.", "team": "Blue Team"}
                for n in range(MAX_RESULTS + 5)
            ],
            {"title": TEXT, "body": TEXT, "team": LABEL},
        )
        opened.upsert(
            "bridges",
            [
                {
                    "id": town,
                    "title": f"{town} bridge",
                    "body": f"The bridge in {town} is {length} metres long. The toll in {town} is {toll} crowns.",
                    "town": town,
                }
                for town, length, toll in (("Pellam", 212, 2), ("Orrin", 340, 3), ("Tarn", 95, 4))
            ],
            {"title": TEXT, "body": TEXT, "town": LABEL},
        )
        opened.upsert(
            "boats",
            [
                {"id": "1", "name": "Otter", "seats": "4", "colour": "green"},
                {"id": "2", "name": "Heron", "seats": "2", "colour": "red"},
            ],
            {"name": TEXT, "seats": TEXT, "colour": TEXT},
        )
        yield opened


def said(quarry: Engine, namespace: str, question: str) -> str:
    return quarry.search(namespace, objective=question, context="Answer.").synthesis


def test_a_list_question_is_answered_by_a_line_for_each_value_that_fits(quarry: Engine) -> None:
    lines = said(quarry, "notes", "Which versions did L. Moreau release?").splitlines()
    assert sorted(line.split(" [")[0] for line in lines) == ["- 4.1.0", "- 4.2.0"]


def test_a_list_since_a_month_is_newest_first(quarry: Engine) -> None:
    assert said(quarry, "notes", "Which versions came out since March 2026?") == "- 4.2.0 [1]\n- 4.1.3 [2]"


def test_documents_are_listed_by_their_titles(quarry: Engine) -> None:
    lines = said(quarry, "mails", "Welche Nachrichten sind von Brandl?").splitlines()
    assert sorted(line.split(" [")[0] for line in lines) == ["- Aufzug außer Betrieb", "- Heizung im Keller"]


def test_a_long_list_says_how_many_are_left_out(quarry: Engine) -> None:
    answer = said(quarry, "tickets", "Which tickets belong to the Blue Team?")
    assert answer.count("\n- ") == MAX_RESULTS - 1
    assert "more." in answer


def test_a_list_whose_subject_stands_nowhere_is_not_found(quarry: Engine) -> None:
    assert said(quarry, "notes", "Which versions of L. Moreau mention walrus migration?").startswith("Not found")


@pytest.mark.parametrize(
    ("namespace", "question", "answer"),
    [
        ("notes", "Who released version 4.1.3?", "K. Oduya"),
        ("notes", "When was version 4.2.0 released?", "2026-05-12"),
        ("mails", "Von wem ist die Nachricht über den Aufzug?", "Brandl"),
    ],
)
def test_an_attribute_answers(quarry: Engine, namespace: str, question: str, answer: str) -> None:
    response = quarry.search(namespace, objective=question, context="Answer.")
    assert answer in response.synthesis.split(" [1]")[0]
    assert any(answer in excerpt for excerpt in response.results[0].excerpts)


def test_a_month_of_the_subject_is_no_condition(quarry: Engine) -> None:
    assert "gewartet" in said(quarry, "mails", "Was wird im Mai gewartet?")


def test_what_is_asks_for_one_thing_and_gets_no_list(quarry: Engine) -> None:
    assert "3 crowns" in said(quarry, "bridges", "What is the toll in Orrin?")


def test_an_imperative_lists_by_title_too(quarry: Engine) -> None:
    assert said(quarry, "bridges", "List all the bridges.").count("\n- ") == 2


def test_a_list_is_not_made_of_what_does_not_say_what_is_asked(quarry: Engine) -> None:
    assert "- " not in said(quarry, "bridges", "Which bridges are longer than 100 metres?")


def test_a_value_that_a_follow_up_takes_along_does_not_turn_it_into_a_list(quarry: Engine) -> None:
    before = quarry.search("bridges", objective="How long is the bridge in Orrin?", context="Answer.")
    after = quarry.continue_search("bridges", before.session_id, message="And what is the toll?")
    assert "3 crowns" in after.synthesis


def test_a_row_that_the_question_names_answers_by_the_value_that_is_asked_for(quarry: Engine) -> None:
    assert said(quarry, "boats", "How many seats does the Otter have?").startswith("Otter: seats: 4")
    assert said(quarry, "boats", "What colour is the Heron?").startswith("Heron: colour: red")
