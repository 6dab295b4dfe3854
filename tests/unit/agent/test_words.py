from __future__ import annotations

import pytest

from engine.agent.offline.words import content_words, folded, stem, subject_words, words


def test_inflections_of_one_word_compare_equal() -> None:
    for group in (("accuse", "accused", "accuses", "accusing"), ("company", "companies"), ("stop", "stopped", "stops")):
        assert len({stem(word) for word in group}) == 1, group


@pytest.mark.parametrize(("one", "other"), [("news", "new"), ("business", "busy"), ("bus", "but"), ("30", "3")])
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_accents_and_case_do_not_count() -> None:
    assert folded("CAFÉ Müller") == "cafe muller"


def test_signs_that_are_letters_of_their_script_stay() -> None:
    assert folded("हिन्दी") == folded("हिन्दी") != folded("हनद")


def test_a_script_without_spaces_compares_by_pairs() -> None:
    assert set(words("東京タワー")) & set(words("東京は大きい")) == {"東京"}


def test_function_words_carry_no_content() -> None:
    assert content_words("What is it that they have been?") == []


def test_words_about_documents_are_not_the_subject() -> None:
    assert subject_words("According to the article, the dam broke") == content_words("dam broke")
