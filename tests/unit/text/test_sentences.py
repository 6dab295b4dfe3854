"""Sentence boundaries, script by script."""

from __future__ import annotations

import pytest

from engine.text.sentences import MAX_SENTENCE, sentences


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


# The sentences of each example, written apart by " | " with the white space that stood between them left out.
SCRIPTS = {
    "Latin": "It ended. Nobody knew why! Did they ask?",
    "Cyrillic": "Он ушёл. Почему? Никто не знает!",
    "Greek": "Τι κάνεις; Είμαι καλά. Ευχαριστώ πολύ!",
    "Arabic": "هل انتهى الأمر؟ نعم انتهى. شكرا جزيلا!",
    "Urdu": "یہ ایک جملہ ہے۔ یہ دوسرا ہے۔ کیا یہ تیسرا ہے؟",
    "Hebrew": "הוא הלך הביתה. למה? איש אינו יודע.",
    "Devanagari": "यह पहला वाक्य है। यह दूसरा है॥ क्या यह तीसरा है?",
    "Bengali": "এটি প্রথম বাক্য। এটি দ্বিতীয়।",
    "Tamil": "இது முதல் வாக்கியம். இது இரண்டாவது வாக்கியம்.",
    "Armenian": "Սա առաջինն է։ Սա երկրորդն է: Սա երրորդն է։",
    "Ethiopic": "ይህ የመጀመሪያው ነው። ይህ ሁለተኛው ነው፧",
    "Khmer": "នេះជាប្រយោគទីមួយ។ នេះជាប្រយោគទីពីរ៕",
    "Burmese": "ဒါက ပထမ စာကြောင်း။ ဒါက ဒုတိယ။",
    "Tibetan": "འདི་དང་པོ་ཡིན། འདི་གཉིས་པ་ཡིན།",
    "Korean": "이것은 첫 문장입니다. 이것은 두 번째입니다. 맞나요?",
}
UNSPACED = {
    "Chinese": ["我们去北京。", "他说：“好！”", "真的吗？", "是的"],
    "Japanese": ["これはペンです。", "「本当？」", "すごい!", "終わり。"],
    "full width": ["円周率は３．１４です．", "次。"],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_sentences_of_a_script_are_told_apart(script: str) -> None:
    text = SCRIPTS[script]
    found = split(text)
    assert " ".join(found) == text
    assert len(found) == sum(text.count(mark) for mark in ".!?;؟۔।॥։:።፧។៕။།")


@pytest.mark.parametrize("script", UNSPACED)
def test_sentences_without_spaces_between_them_are_told_apart(script: str) -> None:
    expected = UNSPACED[script]
    assert split("".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Dr. J. R. R. Watson of Acme Inc. Monday at St. Mary's.",
        "See e.g. Fig. 3, No. 5, pp. 12 and vol. II, i.e. nearly all.",
        "The U.S. President paid $3.50 for version 2.0.1 at example.com today.",
        "“Really?” he asked.",
        "Wait... what happened",
        "Am 5. März kam Herr Dr. Müller z. B. nach Berlin.",
        "В 1999 г. Иванов И. И. уехал.",
        "Cf. Sen. Warren, Rep. Lee et al. 2020.",
        "He was born on Jan. 5 in St. Louis",
        "डॉ. राम आए।",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    "expected",
    [
        ["He moved to the U.S. in May.", "The firm is Acme Inc.", "The next one grew."],
        ["They met at 5 p.m.", "It rained."],
        ["She left (at last.)", "“He stayed.”", "Why?!", "No…", "Well."],
        ["As shown before.[1]", "The rest follows.[2][3]", "Done."],
        ["It took weeks.", "iPhone sales rose."],
        ["He said no.", "Then he left."],
        ["So do I.", "The end."],
        ["Take vitamin C.", "Then rest."],
        ["He lived until 1999.", "The house still stands."],
        ["Is it?", "“Yes.”", "‘No.’", "(Perhaps.)", "[Who knows?]"],
    ],
)
def test_a_full_stop_at_the_end_of_a_sentence_ends_it(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


def test_blank_lines_headings_and_items_are_boundaries() -> None:
    expected = ["# Title", "A paragraph", "- one thing", "* another", "1. first", "2) second", "| a | b |", "End"]
    assert split("\n".join([*expected[:1], "", *expected[1:-1], "\n", expected[-1]])) == expected


def test_a_wrapped_line_does_not_end_a_sentence() -> None:
    text = "This line was wrapped by an editor at about eighty\ncolumns, and the next begins in lower case."
    assert split(text) == [text]
    text = "This line was wrapped by an editor right before the name\nLondon, where he lived."
    assert split(text) == [text]
    text = "他们在一九九九年的春天从北京坐火车到上海去看望自己的老朋友和\n家人。"
    assert split(text) == [text]


def test_short_lines_are_sentences_of_their_own() -> None:
    assert split("Ingredients\nFlour\nWater\nSalt") == ["Ingredients", "Flour", "Water", "Salt"]


def test_line_ends_of_windows_and_of_unicode_are_line_ends() -> None:
    assert split("One\r\nTwo\r\n\r\nThree\u2029Four\u2028Five") == ["One", "Two", "Three", "Four", "Five"]


def test_thai_is_cut_at_spaces_once_a_phrase_is_long_enough() -> None:
    phrase = "ประเทศไทยมีกฎหมายว่าด้วยการคุ้มครองข้อมูลส่วนบุคคลซึ่งมีผลบังคับใช้แล้วทั่วประเทศตั้งแต่ปีที่ผ่านมา"
    assert split(" ".join([phrase] * 3)) == [phrase] * 3
    assert split("สวัสดี ครับ") == ["สวัสดี ครับ"]


def test_an_endless_sentence_is_cut_at_clauses_then_spaces() -> None:
    clauses = ", ".join(["one clause of several words"] * 90)
    pieces = split(clauses)
    assert all(len(piece) <= MAX_SENTENCE for piece in pieces)
    assert all(piece.endswith(",") for piece in pieces[:-1])
    words = "word " * 600
    assert {word for piece in split(words) for word in piece.split()} == {"word"}


def test_a_text_without_any_break_is_cut_between_graphemes() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    for cluster in (family, "e\u0301", "🇩🇪", "👍🏽", "क्षि", "\u1112\u1161\u11ab"):
        for piece in split(cluster * 2_000):
            assert piece == cluster * (len(piece) // len(cluster))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \u3000"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert split(text) == []
