"""The fast tokenizer equals the library's, text by text."""

from __future__ import annotations

from pathlib import Path

import pytest
import wordllama
from hypothesis import example, given
from hypothesis import strategies as st

from engine.embedding.pieces import PieceTokenizer

_LIBRARY = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
_SPECIAL = ("<unk>", "<s>", "</s>")

_CUTS = [" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\0", "\u00a0", "\u2581", "\u3000", *_SPECIAL, "<"]
_LATIN = ["the", "The", "THE", " of", "Apple", "naïve", "x²", "2023", "-", "...", "http://a.b/c?d=e", "İstanbul"]
_OTHER = [
    "中文分词",
    "東京",
    "서울",
    "ไทย",
    "العربية",
    "हिन्दी",
    "Привет",
    "🙂",
    "\U0001f469\u200d\U0001f467",
    "e\u0301",
]
fragments = st.sampled_from(_CUTS + _LATIN + _OTHER)
texts = st.one_of(st.lists(fragments, max_size=12).map("".join), st.text(max_size=40))


class LibraryBpe:
    def encode_raw(self, text: str) -> list[int]:
        return [token.id for token in _LIBRARY.tokenizer.model.tokenize(text)]

    def encode(self, text: str) -> list[int]:
        return _LIBRARY.tokenizer.encode(text, add_special_tokens=False).ids


def tokenizer(*, both_cases: bool = False) -> PieceTokenizer:
    return PieceTokenizer(LibraryBpe(), list(_LIBRARY.tokenizer.get_vocab()), _SPECIAL, both_cases=both_cases)


_shared = tokenizer()
_shared_both = tokenizer(both_cases=True)


@given(texts)
@example("")
@example(" ")
@example("a ")
@example(" a")
@example("a  b")
@example("a\n b\n\nc \n")
@example("\n")
def test_pieces_encode_as_the_whole_text_does(text: str) -> None:
    assert _shared.ids(text).tolist() == LibraryBpe().encode(text)


@given(
    st.lists(st.sampled_from(["the", "The", "Apple", "NASA", "naïve", "\n", "東京", "  "]), max_size=10).map(" ".join)
)
def test_both_cases_hold_the_tokens_of_the_text_and_of_its_lower_case(text: str) -> None:
    expected = LibraryBpe().encode(text) + LibraryBpe().encode(text.lower())
    assert sorted(_shared_both.ids(text).tolist()) == sorted(expected)


def test_a_text_with_a_special_token_is_encoded_in_both_cases_too() -> None:
    text = "An <s>Apple</s>"
    assert _shared_both.ids(text).tolist() == LibraryBpe().encode(text) + LibraryBpe().encode(text.lower())


def test_lone_surrogates_count_as_replacement_characters() -> None:
    assert _shared.ids("a \ud800 b").tolist() == LibraryBpe().encode("a \ufffd b")
    assert _shared.ids("<s> \udfff").tolist() == LibraryBpe().encode("<s> \ufffd")


def test_remembered_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embedding.pieces._KEPT_PIECES", 10)
    small = tokenizer()
    for number in range(100):
        small.ids(f"word{number} and {number}")
        assert len(small._ids_of) <= 10
    assert small.ids("word7 and 7").tolist() == LibraryBpe().encode("word7 and 7")


def test_long_pieces_are_not_remembered() -> None:
    fresh = tokenizer()
    text = "x" * 500
    assert fresh.ids(text).tolist() == LibraryBpe().encode(text)
    assert max(map(len, fresh._ids_of), default=0) < 100


def test_a_vocabulary_with_tokens_across_a_cut_is_refused() -> None:
    with pytest.raises(ValueError, match="cross"):
        PieceTokenizer(LibraryBpe(), ["\u2581a", "a\u2581b"], ())
    with pytest.raises(ValueError, match="cross"):
        PieceTokenizer(LibraryBpe(), ["a\n"], ())
