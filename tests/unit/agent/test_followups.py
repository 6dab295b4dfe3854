"""Whole sessions over a few documents: the last message is what is asked, and what was said is not said again."""

from pathlib import Path

import pytest

import engine

NOTES = {
    "en": [
        ("Ferry", "The ferry to Lund sails at nine on weekdays. On Sundays it sails at ten. Its captain is Ada Quill."),
        ("Crew", "Otto Ray has his cabin on deck two. Ada Quill has her cabin on deck four."),
    ],
    "de": [
        ("Fähre", "Die Fähre fährt werktags um neun Uhr. Sonntags fährt sie um zehn Uhr. Kapitänin ist Ada Quill."),
        ("Mannschaft", "Otto Ray hat seine Kajüte auf Deck zwei. Ada Quill hat ihre Kajüte auf Deck vier."),
    ],
    "zh": [
        ("渡轮", "渡轮工作日九点开船。渡轮周日十点开船。船长是陈思远。"),
        ("船员", "王师傅的舱房在二层甲板。陈思远的舱房在四层甲板。"),
    ],
}  # fmt: skip
TALKS = [
    ("en", "When does the ferry to Lund sail on weekdays?", "And on Sundays?", "at ten"),
    ("en", "Who is the captain of the ferry?", "On which deck is her cabin?", "deck four"),
    ("de", "Wann fährt die Fähre werktags?", "Und sonntags?", "zehn Uhr"),
    ("de", "Wer ist die Kapitänin der Fähre?", "Auf welchem Deck ist ihre Kajüte?", "Deck vier"),
    ("zh", "渡轮工作日几点开船?", "周日呢?", "十点"),
    ("zh", "船长是谁?", "他的舱房在哪里?", "四层"),
]


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("talks")
    with engine.open(folder, agent="offline") as opened:
        for code, notes in NOTES.items():
            documents = [{"id": f"{n}", "title": title, "body": body} for n, (title, body) in enumerate(notes)]
            schema = {name: {"type": "string", "is_searchable": True} for name in ("title", "body")}
            opened.upsert(code, documents, schema)
        yield opened


@pytest.mark.parametrize(("code", "first", "then", "answer"), TALKS)
def test_the_last_message_decides_what_is_said_first(
    quarry: engine.Engine, code: str, first: str, then: str, answer: str
) -> None:
    before = quarry.search(code, objective=first, context="notes")
    after = quarry.continue_search(code, before.session_id, message=then)
    assert answer in after.synthesis.split(" [", 1)[0]
