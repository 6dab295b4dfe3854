from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.claude.hygiene import clean

REMOVED = [
    ("Look ![pixel](https://evil.example/p.png?d=1) here.", "Look here."),
    ("Look ![pixel][ref] here.", "Look here."),
    ("A [good report](https://evil.example) exists.", "A good report exists."),
    ("Bold <b>words</b> and <img src=x onerror=alert(1)> more.", "Bold words and more."),
    ("Unclosed <script src=https://evil.example", "Unclosed"),
    ("Nested <scr<b>ipt>alert</scr</b>ipt> done", "Nested ipt>alertipt> done"),
    ('Cited <cite index="0-1">this</cite>.', "Cited this."),
    ("It cost 12 [1], [2,3] and [4-6].", "It cost 12, and."),
    ("Hidden\u202e text\x00\x1b", "Hidden text"),
    ("Two\nlines\t\there", "Two lines here"),
    ("<!-- comment --> seen", "seen"),
    ("Put <[1]b>together", "Put together"),
]


@pytest.mark.parametrize(("written", "shown"), REMOVED)
def test_markup_and_what_no_one_sees_is_removed(written: str, shown: str) -> None:
    assert clean(written) == shown


@pytest.mark.parametrize(
    "written",
    [
        "It costs 5 < 6 dollars and 7 > 3.",
        "Node.js and Amazon.com grew by 3.5 percent.",
        "The ratio is 1/2, and/or more.",
        "Émile said: « oui »!",
        "An address such as https://a.example/x is for the gate.",
    ],
)
def test_plain_text_stays(written: str) -> None:
    assert clean(written) == written


PIECES = st.sampled_from(
    ["<", ">", "<b>", "</", "cite", "![", "](", ")", "[", "]", "http", "s://", "www.", "e.x/", "1", " ", "a", ":"]
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@given(st.lists(PIECES, max_size=25).map("".join))
def test_no_tag_is_left(text: str) -> None:
    shown = clean(text).lower()
    assert "<b>" not in shown
    assert "<cite>" not in shown
