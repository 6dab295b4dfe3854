from __future__ import annotations

import pytest

from engine.question.names import names_in
from engine.question.shape import shape_of


def test_names_quotations_and_figures_are_found_once_each() -> None:
    text = "Did Ada Marsh's firm sell “Green Roof” to the City of Pellam for $4.5 in 2019, and did Ada Marsh resign?"
    assert names_in(text) == ["Ada Marsh", "Green Roof", "City of Pellam", "$4.5", "2019"]


def test_the_first_word_of_a_question_is_no_name() -> None:
    assert names_in("Which bridge fell? When did it fall?") == []


def test_stretches_that_name_a_source_are_left_out() -> None:
    text = "What did The Beacon say of Ben Okri?"
    assert names_in(text, [(9, 19)]) == ["Ben Okri"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("When was it built?", "temporal"),
        ("In which year was it built?", "temporal"),
        ("Is the bridge open?", "yes_no"),
        ("Does the Beacon agree, while the Gazette does not?", "comparison"),
        ("Between the May report and the June report, was there a change?", "comparison"),
        ("Who built the bridge and the tunnel?", "fact"),
        ("List every bridge of Pellam", "list"),
        ("Why did it fall?", "fact"),
        ("bridge of Pellam", "fact"),
    ],
)
def test_the_form_of_the_answer_follows_the_question(text: str, shape: str) -> None:
    assert shape_of(text) == shape
