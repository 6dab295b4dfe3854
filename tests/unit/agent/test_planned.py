from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from engine import Engine

SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "newspaper": {"type": "string", "is_filterable": True},
    "printed": {"type": "datetime", "is_filterable": True},
}
TOWNS = ("Pellam", "Arden", "Corvale", "Dunmere")


@pytest.fixture(scope="module")
def quarry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("planned")
    documents = [
        {
            "id": f"{paper[:3]}-{town}-{month}",
            "title": f"Tunnel of {town}",
            "body": f"The tunnel of {town} was inspected. The {paper} calls the tunnel {verdict} after {month} weeks.",
            "newspaper": paper,
            "printed": f"2023-0{month}-01",
        }
        for paper, verdict in (("Harbour Gazette", "unsafe"), ("Coastal Times", "sound"))
        for town in TOWNS
        for month in (3, 4, 5)
    ]
    with engine.open(folder, agent="offline") as opened:
        opened.upsert("papers", documents, schema=SCHEMA)
        yield opened


def ids(quarry: Engine, text: str, k: int = 4, **filters: object) -> list[str]:
    return [hit.document_id for hit in quarry.retrieve("papers", text, k=k, filters=filters or None, mode="planned")]


def test_both_named_newspapers_are_among_the_first(quarry: Engine) -> None:
    found = ids(quarry, "Do the Harbour Gazette and the Coastal Times differ on the tunnel of Pellam?")
    assert {name[:3] for name in found} == {"Har", "Coa"}
    assert all("Pellam" in name for name in found[:2])


def test_a_named_month_brings_up_its_document(quarry: Engine) -> None:
    assert ids(quarry, "What did the Coastal Times print in April 2023 about the tunnel of Arden?", 1) == [
        "Coa-Arden-4"
    ]


def test_the_filter_of_the_caller_holds_in_every_query(quarry: Engine) -> None:
    found = ids(quarry, "What does the Coastal Times say of Corvale?", 10, newspaper="Harbour Gazette")
    assert found
    assert all(name.startswith("Har") for name in found)


def test_a_filter_that_matches_nothing_gives_nothing(quarry: Engine) -> None:
    assert ids(quarry, "the tunnel of Pellam", newspaper="Evening Post") == []


def test_scores_never_increase_and_no_passage_comes_twice(quarry: Engine) -> None:
    hits = quarry.retrieve("papers", "Is the tunnel of Dunmere unsafe?", k=24, mode="planned")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len({(hit.document_id, hit.attribute, hit.start) for hit in hits}) == len(hits) == 24


def test_no_passages_are_asked_for(quarry: Engine) -> None:
    assert ids(quarry, "the tunnel of Pellam", 0) == []


def test_a_question_that_names_no_value_keeps_the_ranking_of_the_whole(quarry: Engine) -> None:
    text = "Was the tunnel of Pellam inspected, and after how many weeks?"
    whole = quarry.retrieve("papers", text, k=12, mode="hybrid")
    led = quarry.retrieve("papers", text, k=12, mode="planned")
    assert [hit.document_id for hit in led[:5]] == [hit.document_id for hit in whole[:5]]
    assert len({hit.document_id for hit in led}) == 12


def test_a_part_adds_what_the_whole_leaves_out_behind_the_first_five(tmp_path: Path) -> None:
    crowd = [
        {"id": f"lamp-{n}", "body": f"The lighthouse keeper of Arden trimmed lamp {n} at dusk with brass scissors."}
        for n in range(12)
    ]
    words = ("slate", "roofs", "split", "frost")
    noise = [{"id": f"day-{n}", "body": f"Day {n}: {words[n % 4]} and {words[n % 3]} were noted."} for n in range(200)]
    other = {"id": "roofer", "body": "Slate roofs split in frost."}
    text = "How did the lighthouse keeper of Arden trim the brass lamp at dusk; why do slate roofs split in frost?"
    with engine.open(tmp_path, agent="offline") as opened:
        opened.upsert("notes", [*crowd, *noise, other], schema={"body": {"type": "string", "is_searchable": True}})
        hits = [hit.document_id for hit in opened.retrieve("notes", text, k=10, mode="planned")]
        whole = [hit.document_id for hit in opened.retrieve("notes", text, k=10, mode="hybrid")]
    assert "roofer" not in whole
    assert hits[5] == "roofer"
    assert hits[:5] == whole[:5]
