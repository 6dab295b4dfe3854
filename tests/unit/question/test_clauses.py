from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from engine.question.parts import clauses, without


def parts(text: str, *names: str) -> list[str]:
    spans = [m.span() for name in names for m in re.finditer(re.escape(name), text)]
    return [text[c.start : c.stop].strip(" ,") for c in clauses(text, spans)]


def test_a_contrast_parts_a_question() -> None:
    text = "Does the first survey praise green roofs of barns, while the later survey blames wet cellars?"
    assert parts(text) == [
        "Does the first survey praise green roofs of barns",
        "while the later survey blames wet cellars?",
    ]


def test_a_list_of_names_stays_with_what_they_say() -> None:
    text = "Which harbour lost its northern lighthouse, as reported by Gazette, Beacon and Courier?"
    assert parts(text, "Gazette", "Beacon", "Courier") == [text]


def test_quotations_and_names_are_never_cut() -> None:
    text = 'Who sang "Rain falls, and rivers rise, and bridges break" before the winter concert ended?'
    assert any("Rain falls, and rivers rise, and bridges break" in part for part in parts(text))


def test_a_plain_question_has_one_part() -> None:
    assert parts("When did the mayor open the bridge?") == ["When did the mayor open the bridge?"]


@given(st.text(alphabet="ab ,;.?\n while and", max_size=200))
def test_parts_follow_each_other_without_gaps(text: str) -> None:
    found = clauses(text, [])
    assert "".join(text[c.start : c.stop] for c in found) == text


def test_blanked_stretches_keep_all_positions() -> None:
    assert without("abcdef", 1, 6, [(0, 2), (4, 9)]) == " cd  "
