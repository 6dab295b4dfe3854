from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from engine.agent.blocks import to_reading
from engine.agent.offline.read import MAX_BLOCKS, OfflineReader
from engine.agent.steps import Evidence, Plan, PlannedQuery, ReadingPassage, SubQuestion
from tests.unit.agent.examples_offline import asked, passage

SNOW = "Snow fell on the hills for the whole of the winter."
RAIN = "Rain fell on the roofs for the whole of the autumn."
CATS = "Cats slept on the warm stones beside the old mill."


def reading(label: int, text: str, header: str = "", score: float = 1.0) -> ReadingPassage:
    return to_reading(passage(label, text, header=header), score, (0,), {})


def read(passages: list[ReadingPassage], *parts: str) -> list[Evidence]:
    plan = Plan(tuple(map(SubQuestion, parts)), (PlannedQuery(parts[0]),))
    return asyncio.run(OfflineReader().read(asked(parts[0]), plan, passages))


def texts(evidence: Evidence) -> list[str]:
    return [block.text for block in evidence.passage.blocks if block.id in evidence.block_ids]


def test_the_sentence_that_answers_is_the_evidence() -> None:
    (found,) = read(
        [reading(1, f"{SNOW} The engineer closed the tunnel in the month of May. {CATS}")], "Who closed the tunnel?"
    )
    assert texts(found) == ["The engineer closed the tunnel in the month of May."]


def test_a_sentence_about_he_brings_the_one_before_it() -> None:
    own = "Ben Okri joined the council of the city in 1990. He closed the flooded tunnel within a few days."
    text = f"{RAIN} {own} {CATS}"
    (found,) = read([reading(1, text)], "Who closed the flooded tunnel?")
    assert texts(found) == [
        "Ben Okri joined the council of the city in 1990.",
        "He closed the flooded tunnel within a few days.",
    ]


def test_a_sentence_that_names_its_subject_stands_alone() -> None:
    text = f"{RAIN} This tunnel in Pellam was closed and flooded. {CATS}"
    (found,) = read([reading(1, text)], "Which flooded tunnel was closed?")
    assert texts(found) == ["This tunnel in Pellam was closed and flooded."]


def test_the_most_relevant_passage_comes_first_whatever_its_rank() -> None:
    first, second = read(
        [reading(1, "Cats slept near a tunnel.", score=2.0), reading(2, "The engineer closed the tunnel.")],
        "engineer closed tunnel",
    )
    assert (first.passage.passage.label, second.passage.passage.label) == (2, 1)
    assert first.relevance > second.relevance


def test_evidence_says_which_part_it_bears_on() -> None:
    found = read(
        [reading(1, "The northern tunnel leaks badly."), reading(2, "The southern bridge stays dry.")],
        "northern tunnel leaks badly",
        "southern bridge stays dry",
    )
    assert {e.passage.passage.label: e.sub_questions for e in found} == {1: (0,), 2: (1,)}


def test_many_passages_are_read_like_few() -> None:
    passages = [reading(n, f"The engineer closed tunnel {n}. {RAIN}") for n in range(20)]
    found = read(passages, "engineer closed tunnel")
    assert len(found) == 20
    assert all(texts(e)[0].startswith("The engineer") for e in found)


@given(st.lists(st.text(max_size=120), max_size=6), st.text(min_size=1, max_size=60))
def test_evidence_names_blocks_of_its_passage_in_reading_order(bodies: list[str], question: str) -> None:
    for found in read([reading(n, text) for n, text in enumerate(bodies)], question):
        order = [block.id for block in found.passage.blocks]
        assert 1 <= len(found.block_ids) <= MAX_BLOCKS
        assert list(found.block_ids) == sorted(set(found.block_ids), key=order.index)
        assert 0.0 <= found.relevance <= 10.0 + 1e-6
