import pytest

from engine.analysis.language import NEUTRAL
from engine.question.asked_language import question_language
from engine.question.terms import SOFT, asked_terms, identifiers_in


def words(asked: str) -> list[str]:
    return [term.word for term in asked_terms(asked, {}).terms]


def test_words_that_ask_are_left_out() -> None:
    assert words("What does the keeper of the lighthouse earn?") == ["keeper", "lighthous", "earn"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("Wann wurde die Brücke eröffnet?", "de"),
        ("Köprü ne zaman açıldı?", "tr"),
        ("Πότε άνοιξε η γέφυρα;", "el"),
        ("पुल कब खोला गया?", "hi"),
        ("สะพานเปิดเมื่อไหร่", "th"),
        ("Când a fost deschis podul?", "ro"),
        ("Cây cầu được khánh thành khi nào?", "vi"),
        ("桥是什么时候开通的？", "zh"),
        ("橋はいつ開通しましたか？", "ja"),
        ("متى افتتح الجسر؟", "ar"),
    ],
)
def test_a_question_is_read_in_its_own_language(asked: str, code: str) -> None:
    assert question_language(asked) == code
    assert asked_terms(asked, {}).code == code


@pytest.mark.parametrize("asked", ["Milline jõgi voolab läbi Tartu?", "Hvar er skrifstofan í Reykjavík?"])
def test_a_question_in_a_language_without_a_file_is_not_taken_for_english(asked: str) -> None:
    assert question_language(asked, {"en": 10}) == NEUTRAL
    short, long = (min(t.nats for t in asked_terms(text, {}).terms) for text in (asked, "Tartu"))
    assert short < long


@pytest.mark.parametrize(
    "asked",
    [
        "Pyridostatin prevents double-strand breaks accumulation.",
        "BLM gene encodes RecQ-class DNA helicase.",
        "Gerda Holm, Ove Lind, Odense, delivery",
    ],
)
def test_names_and_terms_of_a_field_do_not_make_a_text_foreign(asked: str) -> None:
    assert question_language(asked, {"en": 10}) == "en"


def test_a_noun_of_a_language_that_capitalises_them_is_no_name() -> None:
    named = {
        t.word
        for t in asked_terms("Wann wurde der Interpret des Liedes von Ada Quill geboren?", {}).terms
        if t.is_named
    }
    assert named == {"ada", "quill"}


def test_key_words_without_a_word_that_tells_are_english() -> None:
    assert [question_language(asked, {"en": 10}) for asked in ("CVE-2024-3094", "hnswlib ef_search")] == ["en", "en"]


def test_a_short_question_is_in_a_language_of_the_collection() -> None:
    assert question_language("Rotterdam", {"nl": 90, "en": 10}) == "nl"


def test_a_word_of_two_languages_is_read_in_that_of_the_question() -> None:
    assert "was" not in words("Was kostet der Eintritt?")


def test_a_kind_of_answer_counts_little() -> None:
    shares = {term.word: term.share for term in asked_terms("How long is the bridge?", {}).terms}
    assert shares == {"long": SOFT, "bridg": 1.0}


def test_combining_marks_do_not_cut_a_word() -> None:
    assert "हिमालय" in words("हिमालय कहाँ है?")


@pytest.mark.parametrize("whole", ["CVE-2024-3094", "5.6.1", "AB-1417", "v3.0.7"])
def test_an_identifier_is_one_term(whole: str) -> None:
    asked = asked_terms(f"What is wrong with {whole}?", {})
    assert [term.word for term in asked.terms if term.is_whole] == [whole.lower()]
    assert identifiers_in(f"It is {whole}.") == [whole.lower()]


@pytest.mark.parametrize("asked", ["", "?!…", "🙂🙂", "a" * 2_000, "猫" * 2_000, "<b>' OR 1=1</b>", "και and и"])
def test_any_text_has_bounded_terms(asked: str) -> None:
    assert len(asked_terms(asked, {}).terms) <= len(asked)


@pytest.mark.parametrize(
    "asked", ["谁赢得了第 49 届超级碗？", "新办公室有多少房间?", "สะพานเปิดเมื่อไหร่", "Who won the bowl?"]
)
def test_no_word_of_the_latest_message_is_carried_from_an_earlier_one(asked: str) -> None:
    assert not any(term.is_carried for term in asked_terms(asked, {}, now=asked).terms)
