import pytest

from engine.analysis.analyzer import indexable, query_terms
from engine.analysis.scripts import is_single_unspaced, prepare, prepare_query
from engine.analysis.tokenizer import make_analyzer

INDEX = make_analyzer("english")


def indexed_terms(text: str) -> set[str]:
    return set(INDEX.analyze(indexable(text, "en")))


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("The committee approved the naïve proposals.", "naive proposal"),
        ("Комитет одобрил предложение.", "предложение"),
        ("Η επιτροπή ενέκρινε την πρόταση.", "επιτροπή"),
        ("中文分词是一个难题", "分词"),
        ("東京タワーは高い", "タワー"),
        ("위원회가 제안을 승인했다", "위원회"),
        ("คณะกรรมการอนุมัติข้อเสนอ", "อนุมัติ"),
        ("وافقت اللَّجْنَةُ على الاقتراح", "اللجنة"),
        ("समिति ने प्रस्ताव को हिन्दी में मंज़ूरी दी", "हिन्दी"),
        ("הַוַּעֲדָה אישרה את ההצעה", "הועדה"),
        ("ကော်မတီက အတည်ပြု", "အတည်ပြု"),
        ("គណៈកម្មាធិការ", "កម្មា"),
    ],
)
def test_a_word_of_any_script_is_among_the_terms_of_its_passage(passage: str, question: str) -> None:
    terms = query_terms(question)
    assert terms
    assert set(terms) <= indexed_terms(passage)


def test_a_hindi_word_is_not_cut_at_its_virama() -> None:
    assert len(query_terms("हिन्दी")) == 1


def test_every_character_of_an_unspaced_run_begins_a_term() -> None:
    terms = prepare("黑猫睡觉").split()
    assert {term[0] for term in terms} == set("黑猫睡觉")


def test_a_query_pairs_characters_without_the_last_one_alone() -> None:
    assert prepare_query("黑猫睡").split() == ["黑猫", "猫睡"]


def test_a_lone_character_stays_single_and_is_known_as_such() -> None:
    (term,) = prepare_query("猫").split()
    assert is_single_unspaced(term)


def test_full_width_digits_and_ligatures_are_folded() -> None:
    assert query_terms("１２３ ﬁnd") == ["123", "find"]


def test_white_space_and_punctuation_give_no_terms() -> None:
    assert query_terms(" \n\t…!?—()\x00") == []
