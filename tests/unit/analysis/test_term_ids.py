from array import array

import pytest

from engine.analysis import term_ids as module
from engine.analysis.analyzer import indexable, language_of, query_terms, text_analyzer
from engine.analysis.term_ids import append_text_ids, term_ids


def text_ids(text: str, language: str = "en") -> list[int]:
    out = array("I")
    assert append_text_ids(text, language, out) == len(out)
    return out.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "The ferries were leaving the harbours at noon, weren't they?",
        "Die Häuser an der Straße sind nicht so alt wie die Kirche und der Markt.",
        "Собаки не были в доме, когда мы пришли из города.",
        "中文分词是一个难题。",
        "",
    ],
)
def test_ids_are_those_of_the_terms_that_the_index_holds(text: str) -> None:
    indexed = text_analyzer("en").analyze(indexable(text, language_of(text)))
    assert text_ids(text, language_of(text)) == term_ids(indexed).tolist()


def test_a_question_and_a_passage_meet_in_the_stem() -> None:
    assert set(term_ids(query_terms("the committee approves")).tolist()) & set(text_ids("Committees approved it"))


def test_ids_are_the_same_in_every_process() -> None:
    assert term_ids(["ferri", "ナス"]).tolist() == [2730101879, 1159515018]


def test_forgetting_words_changes_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a few words that are remembered"
    before = text_ids(text)
    monkeypatch.setattr(module, "WORDS_KEPT", 2)
    assert text_ids(text + " vrombat")[: len(before)] == before
    assert len(module._words) <= 3
