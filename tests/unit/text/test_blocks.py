"""Blocks: what an answer quotes."""

from __future__ import annotations

import pytest

from engine.text.blocks import MAX_BLOCK, PREFERRED_BLOCK, blocks

LONG = "The committee published its report on the state of the harbour in the spring of that year."


def split(text: str) -> list[str]:
    return [text[block.start : block.end] for block in blocks(text)]


def test_sentences_that_stand_for_themselves_are_blocks() -> None:
    assert split(f"{LONG} {LONG}") == [LONG, LONG]


def test_a_short_answer_stays_with_the_sentence_before_it() -> None:
    assert split(f"{LONG} Yes, it did. {LONG}") == [f"{LONG} Yes, it did.", LONG]


def test_a_heading_goes_with_the_sentence_after_it() -> None:
    assert split(f"{LONG}\n\n## Results\n\n{LONG}") == [LONG, f"## Results\n\n{LONG}"]


def test_a_fragment_at_the_end_joins_the_last_block() -> None:
    assert split(f"{LONG}\n\n(end)") == [f"{LONG}\n\n(end)"]


def test_a_text_of_one_fragment_is_one_block() -> None:
    assert split(" Yes. ") == ["Yes."]


def test_short_lines_come_together_until_they_say_something() -> None:
    assert split("Flour\nWater\nSalt\nYeast\nSugar\nOlive oil and a little vinegar\nPatience") == [
        "Flour\nWater\nSalt\nYeast\nSugar\nOlive oil and a little vinegar\nPatience"
    ]


def test_merging_stops_at_the_preferred_length() -> None:
    long = "w" * (PREFERRED_BLOCK - 5) + "."
    assert split(f"{long} Yes, it did.") == [long, "Yes, it did."]


def test_ideographs_count_twice_when_a_sentence_is_too_short() -> None:
    first, second = (
        "委员会于今年春天公布了关于港口现状的详细报告全文。",
        "市长对此表示非常满意并感谢所有参与调查的专家。",
    )
    assert split(first + second) == [first, second]


def test_no_block_is_longer_than_the_longest_sentence() -> None:
    assert max(map(len, split("word " * 2_000))) <= MAX_BLOCK


REST = (
    " This holds for every pump that the station at Pellam has had since the year of the flood, and for those after it."
)


@pytest.mark.parametrize(
    "entries",
    [
        [f"REQ-{n}. The pump number {n} stops.{REST} " for n in (1, 2, 3)],
        [f"• A-{n}: The pump number {n} stops.{REST}\n" for n in (1, 2, 3)],
        [f"- It stops, says {n}.{REST}\n" for n in "abc"],
        [f"{n}. The pump number {n} stops.{REST} " for n in (1, 2, 3)],
        [f"T-{n}\nThe pump number {n} stops.{REST}\n" for n in (1, 2, 3)],
    ],
    ids=["ids", "bullets with ids", "bullets", "numbers", "ids on lines of their own"],
)
def test_the_id_of_a_list_entry_stays_with_its_entry(entries: list[str]) -> None:
    text = "".join(entries)
    starts = [sum(map(len, entries[:n])) for n in range(len(entries))]
    found = blocks(text)
    assert {block.start for block in found} >= set(starts)
    assert all(any(text[block.start : block.end] in entry for entry in entries) for block in found)
