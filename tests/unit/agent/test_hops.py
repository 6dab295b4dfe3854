"""Documents that the best passages name, through the engine: the second place of a question in two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import engine
from benchmarks.encyclopaedia import Encyclopaedia
from engine import Engine
from engine.agent.hops import followed, leads, spread, together
from engine.agent.titles import Link
from engine.model.document import Passage
from engine.retrieval.query import Ranked

SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "shelf": {"type": "string", "is_filterable": True},
}
PAPERS = [
    (
        "film",
        "The Paper Orchard",
        "The Paper Orchard is a 1931 drama film directed by Ada Quill and starring Bo Marsh.",
    ),
    ("ada", "Ada Quill", "Ada Quill was born in Wexmouth. She learnt to paint before she came to the theatre."),
    ("bo", "Bo Marsh", "Bo Marsh sang in a choir and kept bees."),
    ("marsh", "Marsh", "A marsh is wet land with reeds."),
    ("shop", "Orchard", "A shop for stationery and pens. Its founder is Lu Tann."),
    ("lu", "Lu Tann", "Lu Tann was a grocer in Dunmere."),
    ("fr", "Анна Котова", "Анна Котова родилась в Твери."),
    ("ru", "Тихая река", "Тихая река — роман Анны Котовой. Он вышел в 1931 году."),
]


def documents() -> list[dict[str, str]]:
    made = [{"id": i, "title": title, "body": body, "shelf": "a"} for i, title, body in PAPERS]
    # Others of the kind, so that a page is not found for want of anything else.
    made += [
        {
            "id": f"other{n}",
            "title": f"Film number {n}",
            "body": f"Film {n} is a drama film about a director who was born in town {n}.",
            "shelf": "b",
        }
        for n in range(60)
    ]
    return made


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine.open(tmp_path_factory.mktemp("hops"), agent="offline") as opened:
        opened.upsert("films", documents(), SCHEMA)
        yield opened


def first(quarry: Engine, text: str, k: int = 4, mode: str = "planned", **filters: object) -> list[str]:
    hits = quarry.retrieve("films", text, k=k, filters=filters or None, mode=mode)  # type: ignore[arg-type]
    return [hit.document_id for hit in hits]


def test_the_director_of_a_named_film_stands_behind_the_film(quarry: Engine) -> None:
    question = "Where was the director of the film The Paper Orchard born?"
    assert first(quarry, question)[:2] == ["film", "ada"]
    assert "ada" not in first(quarry, question, mode="hybrid")


def test_a_name_inside_a_longer_name_is_not_followed(quarry: Engine) -> None:
    found = first(quarry, "Where was the director of the film The Paper Orchard born?", 6)
    # "Bo Marsh" stands in the film's passage, the marsh does not.
    assert "bo" in found
    assert "marsh" not in found


def test_an_inflected_name_is_followed(quarry: Engine) -> None:
    assert "fr" in first(quarry, "Где родилась автор романа Тихая река?", 3)


def test_what_a_passage_names_satisfies_the_filter_too(quarry: Engine) -> None:
    question = "Where was the director of the film The Paper Orchard born?"
    assert "ada" not in first(quarry, question, 50, shelf="b")


def test_a_question_that_the_best_passage_holds_whole_keeps_its_ranking(quarry: Engine) -> None:
    question = "Who sang in a choir and kept bees?"
    assert first(quarry, question, 10) == first(quarry, question, 10, mode="hybrid")


def test_most_evidence_of_an_encyclopaedia_is_among_the_first_eight(quarry: Engine) -> None:
    made = Encyclopaedia("de")
    quarry.upsert("wiki", made.documents(), {name: SCHEMA[name] for name in ("title", "body")})
    questions = made.questions()[::10]

    def share(mode: str) -> float:
        found = 0
        for asked in questions:
            hits = quarry.retrieve("wiki", asked.text, k=16, mode=mode)  # type: ignore[arg-type]
            ids = list(dict.fromkeys(hit.document_id for hit in hits))[:8]
            found += asked.evidence <= set(ids)
        return found / len(questions)

    assert share("hybrid") < 0.6
    assert share("planned") >= 0.8


def test_a_search_cites_the_film_and_its_director_and_says_what_is_asked_of_her(quarry: Engine) -> None:
    question = "Where was the director of the film The Paper Orchard born?"
    response = quarry.search("films", objective=question, context="A quiz.")
    assert {result.id for result in response.results[:2]} == {"film", "ada"}
    assert "Wexmouth" in response.synthesis


@pytest.mark.parametrize("question", ["?!", "🛟🛟", "a", "x" * 2_000, "\x1f Ada \x1f Quill", "ที่ไหน", "猫吃鱼 Ada где"])
def test_questions_without_words_are_not_found_and_no_error(quarry: Engine, question: str) -> None:
    assert quarry.retrieve("films", question, mode="planned") is not None
    assert quarry.search("films", objective=question, context="A quiz.").status == "completed"


def passage(label: int, text: str = "x", title: str = "") -> Passage:
    return Passage(
        label=label, document_id=f"d{label}", attribute="body", start=0, end=len(text), text=text, header=title
    )


def test_what_is_asked_of_a_described_document_is_asked_of_it_by_name() -> None:
    film = passage(1, "X is a film directed by Ada Quill. It was shot in Rome.", "X")
    ada, bo = passage(2, "She was born in Wexmouth.", "Ada Quill"), passage(3, "He was born in Ness.", "Bo Marsh")
    question = "Where was the director of the film X born?"
    related = Link(ada, "Ada Quill", film, 0.95, related=True)
    assert followed(question, [related, Link(bo, "Bo Marsh", film, 0.9)]) == ["Ada Quill born"]
    assert followed(question, [Link(bo, "Bo Marsh", film, 0.9)]) == []
    assert followed(question, [Link(ada, "Ada Quill", film, 0.9, related=True, is_titled=False)]) == []
    assert followed("Which film did Ada Quill direct?", [related]) == []


def test_documents_that_a_name_joins_answer_together(quarry: Engine) -> None:
    # No single page holds both, and each of them by itself is half of what is asked.
    response = quarry.search("films", objective="Did Ada Quill paint and Bo Marsh keep bees?", context="A quiz.")
    assert {result.id for result in response.results} >= {"ada", "bo"}
    film, ada, bo = passage(1), passage(2), passage(3)
    named = [Link(film, "X", None, 0.99), Link(bo, "Bo Marsh", None, 0.99)]
    through = Link(ada, "Ada Quill", film, 0.95, related=True)
    assert together([*named, through]) == [("d1", "d2"), ("d1", "d3", "d2")]
    assert together([Link(ada, "Ada Quill", film, 0.9)]) == []


def test_what_is_linked_takes_the_place_of_its_strength_and_the_best_stays() -> None:
    none = np.zeros(3, np.float32)
    scores = np.asarray([2.0, 1.0, 0.5], np.float32)
    ranked = Ranked(tuple(map(passage, (1, 2, 3))), scores, none, none, frozenset({"d1", "d2", "d3"}))
    links = [Link(passage(9), "nine", passage(1), 0.6), Link(passage(3), "three", passage(1), 0.95)]
    found = spread(ranked, links, 3)
    assert [p.label for p in found.passages] == [1, 3, 9]
    assert found.scores.tolist() == pytest.approx([2.0, 1.9, 1.2])
    assert found.scanned == {"d1", "d2", "d3", "d9"}


TICKETS = [
    {"id": "T-88", "title": "Printer on floor 3", "body": "The printer on floor 3 jams. Replaced by T-91."},
    {"id": "T-91", "title": "New order", "body": "A laser printer was ordered. Delivery is planned for May."},
    {"id": "claims", "title": "March", "body": "The customer that returned the cracked teapot was Gerda Holm."},
    {"id": "buyers", "title": "Buyers", "body": "Gerda Holm lives in Odense and buys tea. Sven Alm lives in Malmö."},
    {"id": "readme", "title": "Readme", "body": "For the requirements of the server see docs/install.md."},
    {"id": "docs/install.md", "title": "Installing", "body": "Run the installer. It needs 2 GB of memory."},
    *({"id": f"n{n}", "title": f"Note {n}", "body": f"Of desks, tea and printers on day {n}."} for n in range(30)),
]


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("When is the delivery of the printer that replaces T-88 planned?", {"T-88", "T-91"}),
        ("Where does the customer that returned the cracked teapot live?", {"claims", "buyers"}),
        ("How much memory do the requirements of the server say?", {"readme", "docs/install.md"}),
    ],
)
def test_ids_file_names_and_names_without_a_page_are_followed(
    tmp_path: Path, question: str, documents: set[str]
) -> None:
    with engine.open(tmp_path, agent="offline") as quarry:
        quarry.upsert("desk", TICKETS, dict.fromkeys(("title", "body"), SCHEMA["title"]))
        results = quarry.search("desk", objective=question, context="Answer.").results
    assert {result.id for result in results[:2]} == documents


def test_what_a_said_document_names_is_listed_before_what_nobody_names() -> None:
    link = Link(passage(2), "b", passage(1), 0.9, related=True)
    named = Link(passage(1), "a", None, 0.99)
    assert leads([link, named]) == (("", "d1"), ("d1", "d2"))
