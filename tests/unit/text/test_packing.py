"""Packing sentences into stretches."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.text.packing import pack
from engine.text.tokens import count_tokens

SENTENCE = "The harbour was busy on that day and the ships came in one after another."
EACH = count_tokens(f" {SENTENCE}")


def stretches(text: str, max_tokens: int, overlap: int = 0) -> list[str]:
    return [text[start:end] for start, end in pack(text, max_tokens, overlap)]


def test_a_text_that_fits_is_one_stretch() -> None:
    text = " ".join([SENTENCE] * 4)
    assert stretches(text, 4 * EACH) == [text]
    assert stretches(f"  {text}\n", 4 * EACH) == [text]


def test_cuts_are_between_sentences() -> None:
    for stretch in stretches(" ".join([SENTENCE] * 25), 6 * EACH):
        assert stretch == " ".join([SENTENCE] * (stretch.count(".")))


def test_stretches_are_balanced_rather_than_filled() -> None:
    # Six fit; seven would leave an orphan of one sentence.
    assert [s.count(".") for s in stretches(" ".join([SENTENCE] * 7), 6 * EACH)] in ([4, 3], [3, 4])
    counts = [s.count(".") for s in stretches(" ".join([SENTENCE] * 40), 6 * EACH)]
    assert sum(counts) == 40
    assert max(counts) - min(counts) <= 1


def test_a_paragraph_end_close_to_the_even_size_is_preferred() -> None:
    text = " ".join([SENTENCE] * 6) + "\n\n" + " ".join([SENTENCE] * 5)
    assert [s.count(".") for s in stretches(text, 8 * EACH)] == [6, 5]


def test_overlap_repeats_whole_sentences_of_the_stretch_before() -> None:
    text = " ".join(f"{SENTENCE[:-1]} number {n}." for n in range(30))
    found = stretches(text, 8 * EACH, 2 * EACH + 10)
    for before, after in pairwise(found):
        first = after.split(".")[0]
        assert first in before
        assert not before.startswith(first)


def test_a_sentence_that_is_too_long_is_cut_by_itself() -> None:
    text = f"{SENTENCE} {'endless ' * 400}"
    for stretch in stretches(text, 64):
        assert count_tokens(stretch) <= 64


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
def test_blank_text_has_no_stretch(text: str) -> None:
    assert pack(text, 64) == []


def test_a_limit_that_no_sentence_could_meet_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        pack("text", 4)
