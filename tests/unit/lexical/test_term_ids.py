import threading

import pytest

from engine.analysis.analyzer import indexable, language_of, query_terms, text_analyzer
from engine.lexical.term_ids import TermTable, term_table


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
    table = TermTable()
    indexed = text_analyzer("en").analyze(indexable(text, language_of(text)))
    (ids,) = table.text_ids([text], [language_of(text)])
    assert ids.tolist() == table.term_ids(indexed).tolist()


def test_a_question_and_a_passage_meet_in_the_stem() -> None:
    table = TermTable()
    (ids,) = table.text_ids(["Committees approved it"])
    assert set(table.term_ids(query_terms("the committee approves")).tolist()) & set(ids.tolist())


def test_words_of_one_stem_have_ids_of_their_own() -> None:
    table = TermTable()
    texts = ["approved approves Approved", "approves"]
    (stems, other), (words, form) = table.text_ids(texts), table.word_ids(texts)
    assert stems.tolist() == [other[0]] * 3
    assert words[0] == words[2] != words[1] == form[0]


def test_a_text_seen_again_is_not_analysed_again() -> None:
    table = TermTable()
    (first,) = table.text_ids(["some text"])
    (second,) = table.text_ids(["some text"])
    assert first is second


def test_threads_agree_on_ids() -> None:
    table = TermTable()
    texts = [f"word{n} shared{n % 7}" for n in range(300)]
    found: list[list[list[int]]] = []

    def analyse() -> None:
        found.append([ids.tolist() for ids in table.text_ids(texts)])

    threads = [threading.Thread(target=analyse) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == found[0] for one in found)
    assert len({ids[0] for ids in found[0]}) == 300


def test_a_full_table_gives_way_to_a_fresh_one(monkeypatch: pytest.MonkeyPatch) -> None:
    old = term_table()
    old.text_ids(["a few words"])
    monkeypatch.setattr("engine.lexical.term_ids._WORDS_KEPT", 0)
    assert term_table() is not old
