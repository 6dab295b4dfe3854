"""The subject is in the documents and the answer is not; and what is said where it is."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

import engine
from engine.agent.offline.judge import OfflineJudge, Values
from engine.question.kinds import counted, stands_by_number
from tests.unit.agent.made import evidence, passage, plan, question


def values(objective: str, text: str) -> Values:
    asked, judge = question(objective), OfflineJudge()
    return judge.values(asked, judge.table(asked, [evidence(passage(1, text))]))


@pytest.mark.parametrize(
    ("asked", "without", "with_it"),
    [
        ("What does the worktop cost?", "The worktop was cut 4 cm too short.", "The worktop is £340."),
        (
            "Wie viel kostet ein Stellplatz?",
            "Im Hof entstehen zwölf Stellplätze.",
            "Der Stellplatz ist für 30 Euro zu haben.",
        ),
        ("Сколько стоит каталог?", "Каталог печатают долго.", "Каталог продаётся за 300 рублей."),
        (
            "How many pockets has the jacket?",
            "The jacket of 2019 packs into its own pocket.",
            "The jacket has 3 pockets.",
        ),
        ("Combien de livres possède la salle ?", "La salle prête des livres.", "La salle possède 900 livres."),
        ("रेलवे लाइन पर कितनी सुरंगें हैं?", "लाइन 1899 में मज़दूरों ने बनाई, और बाद में सुरंगें भी।", "इस लाइन पर चौदह सुरंगें हैं।"),
        ("เส้นทางรถไฟมีอุโมงค์กี่แห่ง", "ทางรถไฟมีอุโมงค์หลายแห่ง", "ทางรถไฟมีอุโมงค์สิบสี่แห่ง"),
        ("新办公室有多少房间?", "新办公室九月一日搬迁, 房间很大。", "新办公室有十二房间。"),
    ],
)
def test_a_price_is_money_and_a_count_stands_beside_what_is_counted(asked: str, without: str, with_it: str) -> None:
    assert values(asked, without).lacks > values(asked, with_it).lacks == 0


def test_how_long_something_lasted_counts_nothing() -> None:
    assert values("Wie lange dauerte der Krieg?", "Der Krieg begann im Mai.").lacks == 0


def test_what_counts_nothing_asks_for_no_number_beside_it() -> None:
    assert [counted(asked, "en") for asked in ("How much does it cost?", "How long is it?")] == [None, None]
    assert not stands_by_number("tunnels", "tunnels".__eq__, "Tunnels were dug from 1899 on.", "en")


def test_a_number_belongs_to_the_name_before_it() -> None:
    asked = "What does the Tarn 3 weigh?"
    assert values(asked, "The Tarn 2 weighs 3 kg.").around < values(asked, "The Tarn 3 weighs 2 kg.").around


def test_letters_of_a_script_without_spaces_count_in_runs() -> None:
    text = "ภูเขาไฟบนเกาะเซลนามีความสูง 2,340 เมตร การปะทุครั้งล่าสุดเกิดขึ้นในปี 1911"
    assert values("ภูเขาไฟบนเกาะเซลนาสูงเท่าไหร่", text).around > 0.8
    assert values("ผึ้งหินเก็บเกสรจากดอกอะไร", text).around < 0.2


def test_words_that_only_put_a_question_count_little() -> None:
    found = [values(asked, "E17: the clock is off.").around for asked in ("What does E17 mean?", "What does E17 bake?")]
    assert found[0] > 0.7 > found[1]


def test_another_subject_is_refused_and_its_own_answered_in_thai() -> None:
    text = "ภูเขาไฟบนเกาะเซลนามีความสูง 2,340 เมตร การปะทุครั้งล่าสุดเกิดขึ้นในปี 1911"
    for asked, is_answered in (("ภูเขาไฟบนเกาะเซลนาสูงเท่าไหร่", True), ("ผึ้งหินเก็บเกสรจากดอกอะไร", False)):
        judged = asyncio.run(OfflineJudge().judge(question(asked), plan(asked), [evidence(passage(1, text))], ()))
        assert judged.answerable is is_answered


DOCUMENTS = [
    {
        "id": "faq",
        "title": "Reset your password",
        "body": 'Open Settings, choose Security and press "Reset password". A mail with a link arrives '
        "within five minutes.",
    },
    {
        "id": "roof",
        "title": "Roof",
        "body": "The scaffolding of the roof goes up on Friday.",
        "date": "2026-03-04",
        "from": "Tom Hale",
    },
]
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "date": {"type": "datetime", "is_filterable": True},
    "from": {"type": "string", "is_filterable": True},
}


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Generator[engine.Engine]:
    with engine.open(tmp_path_factory.mktemp("near") / "data", agent="offline") as opened:
        opened.upsert("desk", DOCUMENTS, SCHEMA)
        yield opened


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("How do I reset my password?", ["press", "within five minutes"]),
        ("When did the scaffolding of the roof go up?", ["on Friday"]),
        ("When was the mail about the roof sent?", ["2026-03-04"]),
        ("Who wrote the mail about the roof?", ["Tom Hale"]),
    ],
)
def test_steps_are_said_together_and_attributes_answer_only_what_is_asked_of_them(
    quarry: engine.Engine, asked: str, said: list[str]
) -> None:
    answer = quarry.search("desk", objective=asked, context="Answer.").synthesis
    first = answer.partition(" [")[0]
    assert all(part in first for part in said), answer
