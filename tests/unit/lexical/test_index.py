from pathlib import Path

import numpy as np
import pytest

from engine.errors import CorruptData, StorageError
from engine.lexical.index import LexicalIndex, LexicalPassage, LexicalQuery

NONE = np.empty(0, np.int64)
PASSAGES = [
    LexicalPassage(1, "Harbour news", "The ferry left the harbour at noon."),
    LexicalPassage(2, "Weather", "Storms closed the harbour."),
    LexicalPassage(3, "Ferry timetable", "Departures every hour."),
    LexicalPassage(4, "Sport", "The match ended in a draw."),
]


def labels(index: LexicalIndex, text: str, k: int = 10) -> list[int]:
    return index.reader().search(LexicalQuery(text), k).labels.tolist()


@pytest.fixture
def index(tmp_path: Path):
    index, seq = LexicalIndex.open(tmp_path / "lexical")
    assert seq == 0
    index.apply(PASSAGES, NONE, 1)
    yield index
    index.close()


def test_words_are_found_in_header_and_body(index: LexicalIndex) -> None:
    assert set(labels(index, "ferries")) == {1, 3}


def test_the_passage_with_more_of_the_rare_words_comes_first(index: LexicalIndex) -> None:
    assert labels(index, "closed by storms at noon")[0] == 2


def test_a_text_finds_the_headers_that_share_its_words_and_nothing_by_bodies(index: LexicalIndex) -> None:
    reader = index.reader()
    found = reader.search_headers("Storms kept the ferry in; no timetable held in this weather.", 10)
    assert found.labels.tolist() == [3, 2]
    assert reader.search_headers("storms", 10).labels.tolist() == []
    assert reader.search_headers("ferry weather", 10, allowed=np.asarray([2, 4])).labels.tolist() == [2]
    assert reader.search_headers("ferry", 0).labels.tolist() == []


def test_a_higher_header_weight_prefers_headers(index: LexicalIndex) -> None:
    low = index.reader().search(LexicalQuery("ferry", header_weight=0.0), 10)
    high = index.reader().search(LexicalQuery("ferry", header_weight=5.0), 10)
    assert set(low.labels.tolist()) == {1, 3}
    assert high.labels[0] == 3
    assert high.scores[0] > low.scores[0]


def test_scores_never_increase_and_k_bounds_the_result(index: LexicalIndex) -> None:
    found = index.reader().search(LexicalQuery("the ferry harbour draw"), 3)
    assert len(found) == 3
    assert (np.diff(found.scores) <= 0).all()


def test_equal_passages_tie_to_the_smaller_label(index: LexicalIndex) -> None:
    index.apply([LexicalPassage(n, "", "quokka spotted") for n in range(30, 10, -1)], NONE, 2)
    assert labels(index, "quokka", 5) == [11, 12, 13, 14, 15]


def test_removed_passages_do_not_return(index: LexicalIndex) -> None:
    index.apply([], np.array([1], np.int64), 2)
    assert labels(index, "ferry") == [3]


def test_a_label_that_is_added_again_is_replaced(index: LexicalIndex) -> None:
    index.apply([LexicalPassage(1, "", "Lighthouse keepers")], NONE, 2)
    assert labels(index, "ferry") == [3]
    assert labels(index, "lighthouse") == [1]
    assert index.reader().num_passages == 4


def test_applying_a_change_twice_changes_nothing(index: LexicalIndex) -> None:
    for _ in range(2):
        index.apply([LexicalPassage(7, "", "Tide tables")], np.array([2], np.int64), 2)
    assert index.reader().num_passages == 4
    assert set(labels(index, "tide harbour")) == {1, 7}


def test_a_reader_keeps_its_snapshot(index: LexicalIndex) -> None:
    before = index.reader()
    index.apply([], np.array([1, 3], np.int64), 2)
    assert set(before.search(LexicalQuery("ferry"), 10).labels.tolist()) == {1, 3}
    assert before.num_passages == 4


def test_reopening_gives_the_same_answers_and_the_applied_sequence(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply(PASSAGES, NONE, 7)
    first = index.reader().search(LexicalQuery("ferry harbour"), 10)
    index.close()
    again, seq = LexicalIndex.open(tmp_path / "lexical")
    second = again.reader().search(LexicalQuery("ferry harbour"), 10)
    again.close()
    assert seq == 7
    assert first.labels.tolist() == second.labels.tolist()
    assert first.scores.tolist() == second.scores.tolist()


def test_a_cleared_index_is_empty_and_takes_passages_again(index: LexicalIndex) -> None:
    before = index.reader()
    index.clear()
    assert index.reader().num_passages == 0
    index.apply(PASSAGES[:1], NONE, 9)
    assert labels(index, "ferry") == [1]
    assert set(before.search(LexicalQuery("ferry"), 10).labels.tolist()) == {1, 3}


@pytest.mark.parametrize("text", ["", "   ", "?!", "\x00", "zebra"])
def test_a_text_without_a_known_word_finds_nothing(index: LexicalIndex, text: str) -> None:
    assert labels(index, text) == []


def test_nothing_is_wanted_and_nothing_is_allowed_give_nothing(index: LexicalIndex) -> None:
    reader = index.reader()
    assert len(reader.search(LexicalQuery("ferry"), 0)) == 0
    assert len(reader.search(LexicalQuery("ferry"), 5, allowed=NONE)) == 0
    with pytest.raises(ValueError, match="k must be"):
        reader.search(LexicalQuery("ferry"), -1)


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    assert labels(index, "ferry") == []


def test_query_syntax_is_only_words(index: LexicalIndex) -> None:
    assert labels(index, 'label:1 OR "ferry" -harbour *') == labels(index, "label 1 or ferry harbour")


def test_hundreds_of_words_keep_the_rarest(index: LexicalIndex) -> None:
    filler = [LexicalPassage(100 + n, "", " ".join(f"w{n // 2}x{m}" for m in range(8)) + " the") for n in range(20)]
    index.apply([*filler, LexicalPassage(200, "", "zyzzyva the")], NONE, 2)
    text = " ".join(passage.body for passage in filler) + " the zyzzyva"
    assert 200 in labels(index, text, 50)


def test_one_character_of_an_unspaced_script_is_found_inside_and_at_the_end_of_runs(index: LexicalIndex) -> None:
    index.apply(
        [LexicalPassage(50, "", "黑猫睡觉"), LexicalPassage(51, "", "一只猫"), LexicalPassage(52, "", "狗")], NONE, 2
    )
    assert set(labels(index, "猫")) == {50, 51}


def test_weights_grow_with_rarity_and_a_word_that_nothing_holds_weighs_most(index: LexicalIndex) -> None:
    terms = index.reader().terms("the harbour at noon, zebra?")
    weights = dict(zip(terms.terms, terms.weights.tolist(), strict=True))
    assert weights["zebra"] > weights["noon"] > weights["harbour"] > weights["the"] > 0


def test_function_words_count_little_also_where_they_are_rare(index: LexicalIndex) -> None:
    terms = index.reader().terms("which whose noon")
    assert terms.stops.tolist() == [True, True, False]
    assert terms.factors[:2].max() <= 0.25


def test_passages_of_several_languages_are_found_by_inflected_words(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply(
        [
            LexicalPassage(
                1, "", "Die Häuser an der Straße sind nicht so alt wie die Kirche und der Markt in der Stadt."
            ),
            LexicalPassage(2, "", "Les chevaux sont dans le pré et ils mangent des pommes avec les autres animaux."),
            LexicalPassage(3, "", "Собаки не были в доме, когда мы пришли из города с детьми."),
            LexicalPassage(4, "", "The committees were meeting in the town hall for the third time."),
        ],
        NONE,
        1,
    )
    found = {text: labels(index, text) for text in ("Haus", "cheval pomme", "собака", "committee")}
    index.close()
    assert found == {"Haus": [1], "cheval pomme": [2], "собака": [3], "committee": [4]}


def test_a_poisoned_batch_is_refused_and_does_not_leak_into_the_next_commit(index: LexicalIndex) -> None:
    poison = LexicalPassage(61, "", 5)  # type: ignore[arg-type]
    with pytest.raises((StorageError, CorruptData, TypeError, AttributeError)):
        index.apply([LexicalPassage(60, "", "albatross"), poison], NONE, 2)
    index.apply([LexicalPassage(62, "", "pelican")], NONE, 3)
    assert labels(index, "albatross pelican") == [62]
    assert index.reader().num_passages == 5


def test_a_label_beyond_the_index_is_refused_and_what_was_there_stays(index: LexicalIndex) -> None:
    with pytest.raises(StorageError):
        index.apply([LexicalPassage(2**70, "", "albatross")], NONE, 2)
    assert index.reader().num_passages == 4


def test_a_slip_of_the_pen_is_forgiven_where_nothing_is_spelt_so(index: LexicalIndex) -> None:
    assert labels(index, "harbuor") == labels(index, "harbour")
    assert labels(index, "departrues") == [3]


def test_a_word_that_is_there_is_never_corrected(index: LexicalIndex) -> None:
    index.apply([LexicalPassage(70, "", "harbours and arbours"), LexicalPassage(71, "", "harboum")], NONE, 2)
    assert labels(index, "harboum") == [71]


def test_numbers_codes_and_short_words_are_never_corrected(index: LexicalIndex) -> None:
    index.apply([LexicalPassage(70, "", "model nt5c2 of 20231 cat")], NONE, 2)
    assert labels(index, "nt5c3 20232 cut") == []


def test_the_rarity_of_an_unknown_word_stays_its_own(index: LexicalIndex) -> None:
    assert "harbuor" in index.reader().rarity("harbuor")


ENGLISH = [
    LexicalPassage(n, "", f"The committee of the town met in hall {n} for the third time this year.") for n in range(30)
]
SPANISH = LexicalPassage(
    90, "", "Los investigadores compararon estos hallazgos con los datos de las ciudades y no con otros."
)


def test_a_few_foreign_passages_do_not_make_other_words_of_an_english_question(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply([*ENGLISH, SPANISH], NONE, 1)
    assert index.reader().terms("the committee was meeting").terms == ("the", "committe", "was", "meet")
    index.close()


def test_a_question_in_the_language_of_few_passages_is_read_in_it(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply([*ENGLISH, SPANISH], NONE, 1)
    found = labels(index, "qué compararon los investigadores en la ciudad")
    index.close()
    assert found[0] == 90


def test_a_word_counts_as_known_when_any_reading_of_it_is(tmp_path: Path) -> None:
    index, _ = LexicalIndex.open(tmp_path / "lexical")
    index.apply([*ENGLISH[:3], *[SPANISH._replace(label=90 + n) for n in range(3)]], NONE, 1)
    terms = index.reader().terms("ciudades")
    index.close()
    assert terms.frequencies.min() == 3


def test_a_question_asked_again_is_read_anew_only_after_a_write(index: LexicalIndex) -> None:
    text = "ferry harbour zyzzyva"
    reader = index.reader()
    first = reader.terms(text)
    assert reader.terms(text) is first
    assert set(reader.rarity(text)) == {"ferri", "harbour", "zyzzyva"}
    index.apply([LexicalPassage(90, "", "zyzzyva and ferry")], NONE, 2)
    again = index.reader().terms(text)
    assert dict(zip(again.terms, again.frequencies.tolist(), strict=True))["zyzzyva"] == 1
    assert reader.terms(text) is first
