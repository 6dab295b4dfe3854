from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.claude.hygiene import clean

REMOVED = [
    ("See https://evil.example/?q=secret now.", "See now."),
    ("See HTTPS://evil.example.", "See."),
    ("See www.evil.example/x.", "See."),
    ("Go to evil.example/steal?d=1 at once.", "Go to at once."),
    ("javascript:alert(1) runs", ") runs"),
    ("Mail mailto:x@evil.example today", "Mail today"),
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
def test_what_no_source_holds_is_removed(written: str, shown: str) -> None:
    assert clean(written, ["Nothing of the kind."]) == shown


@pytest.mark.parametrize(
    "written",
    [
        "See https://times.example/bridge for more.",
        "The tag <table> starts a table.",
        "It costs 5 < 6 dollars and 7 > 3.",
        "Node.js and Amazon.com grew by 3.5 percent.",
        "The ratio is 1/2, and/or more.",
        "Émile said: « oui »!",
    ],
)
def test_what_a_source_holds_and_plain_text_stay(written: str) -> None:
    assert clean(written, ["Read https://times.example/bridge and use <table>."]) == written


def test_citation_tags_and_markers_go_even_when_a_source_has_them() -> None:
    assert clean("Said <cite>so</cite> [1].", ["Said <cite>so</cite> [1]."]) == "Said so."


def test_an_address_that_goes_on_beyond_the_source_is_removed() -> None:
    assert clean("At https://a.example/x?leak=1 now", ["https://a.example/x"]) == "At now"


PIECES = st.sampled_from(
    ["<", ">", "<b>", "</", "cite", "![", "](", ")", "[", "]", "http", "s://", "www.", "e.x/", "1", " ", "a", ":"]
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text, [])
    assert clean(once, []) == once


@given(st.lists(PIECES, max_size=25).map("".join))
def test_no_image_no_address_and_no_tag_is_left(text: str) -> None:
    shown = clean(text, []).lower()
    assert "http://a" not in shown
    assert "https://a" not in shown
    assert "<b>" not in shown
    assert "<cite>" not in shown
