from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.answer.gate import problems_of
from engine.agent.answer.names import strange_names
from engine.agent.answer.support import Supported
from engine.agent.drafts import AnswerDraft, FindingDraft, Problem, SentenceDraft

SOURCE = (
    "The mayor of Pellam, Ada Holm, opened the bridge. She thanked Orrin Works Ltd. and the United Nations. "
    "The engineers of ACME had said that it would take years and cost more than the town could ever pay, and the "
    "papers agreed with them at once, as they had done with all who spoke against the bridge before it was built."
)


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("Ada Holm opened the bridge.", []),
        ("The bridge was opened by Ada Holm's office.", []),
        ("Tim Cook opened the bridge.", ["Cook"]),
        ("The bridge was opened by Tim Cook.", ["Tim", "Cook"]),
        ("It was built by Orrin Steel.", ["Steel"]),
        ("It was built by IBM Steel.", ["Steel"]),
        ("IGNORED by NASDAQ.", ["IGNORED", "NASDAQ"]),
        ("ACME and the UN were there.", []),
        ("The U.N. was there.", []),
        ("Both papers agreed. However, years passed.", []),
        ("Nothing else is known.", []),
        ("", []),
    ],
)
def test_only_names_that_no_source_knows_are_strange(text: str, strange: list[str]) -> None:
    assert strange_names(text, [SOURCE]) == strange


def test_words_are_known_where_their_abbreviation_stands() -> None:
    assert strange_names("Sales in the United States rose.", ["sales in the us rose"]) == []


@pytest.mark.parametrize("gap", [". ", "; ", ": ", "! ", ".” "])
def test_a_name_ends_with_its_sentence(gap: str) -> None:
    assert strange_names(f"It was in Pellam{gap}Years passed.", [SOURCE]) == []


def test_nouns_of_a_language_that_capitalises_them_are_no_names_at_the_beginning() -> None:
    source = "Die Brücke in der Stadt wurde im Mai vom Rat mit einem Fest am Fluss für den Verkehr geöffnet."
    assert strange_names("Die Öffnung fand im Frühling statt.", [source]) == []


@pytest.mark.parametrize("text", ["他在北京工作。", "وقال الرئيس هذا", "Москва", "יום טוב"])
def test_scripts_without_capitals_or_single_words_have_no_names(text: str) -> None:
    assert strange_names(text, []) == []


@given(st.text(max_size=60))
def test_a_text_knows_its_own_names(text: str) -> None:
    assert strange_names(text, [text]) == []


@given(st.text(alphabet="AaBb. '-’", max_size=40), st.text(alphabet="AaBb. '-’", max_size=40))
def test_more_sources_never_make_more_names_strange(text: str, source: str) -> None:
    assert set(strange_names(text, [source.lower(), source])) <= set(strange_names(text, [source.lower()]))


def test_a_finding_may_take_its_names_from_the_passage_and_from_the_question() -> None:
    held = Supported("Ada Holm was thanked by Tim Cook.", "d", ("She was thanked.",), around=("Ada Holm spoke.",))
    draft = AnswerDraft(
        (FindingDraft(held.finding, "d", ("1.0",)),), (SentenceDraft("The firm Orrin Steel paid.", (0,)),)
    )
    assert problems_of(draft, [held], ["What did Tim Cook do?"]) == [
        Problem("sentence", 0, "the name Orrin stands in none of its sources"),
        Problem("sentence", 0, "the name Steel stands in none of its sources"),
    ]
    assert problems_of(draft, [held])[0] == Problem("finding", 0, "the name Tim stands in none of its sources")
