"""The shipped vocabulary and counting with it."""

from __future__ import annotations

import gzip
import hashlib
import socket
from importlib.resources import files

import pytest

from engine.text.tokens import VOCABULARY, count_tokens, encoding

SHA256 = "fa56d67074aee533a6daffef364e0351365a56115314912e4e88c8ff7a0481e8"


def test_the_vocabulary_is_the_one_that_was_trained() -> None:
    content = gzip.decompress((files("engine.text") / VOCABULARY).read_bytes())
    assert hashlib.sha256(content).hexdigest() == SHA256
    assert encoding().n_vocab == 16_384


def test_any_text_is_encoded_without_loss() -> None:
    text = "Größe 北京 नमस्ते 👩\u200d👧 \0\t\n  x" + "".join(map(chr, range(0x20, 0x2FF)))
    assert encoding().decode(encoding().encode_ordinary(text)) == text


def test_what_looks_like_a_special_token_is_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") > 3
    assert encoding().special_tokens_set == set()


def test_english_prose_takes_fewer_than_two_tokens_a_word() -> None:
    text = "The committee said on Tuesday that it would publish the report before the end of the year."
    assert count_tokens(text) <= 1.3 * len(text.split())


@pytest.mark.parametrize("text", ["", "a", " a", "a ", " ", "  ", "a  b", " a b ", "\n", "a\n b", "…", "don't “x”"])
def test_counts_are_those_of_the_encoding(text: str) -> None:
    assert count_tokens(text) == len(encoding().encode_ordinary(text))


def test_loading_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    encoding.cache_clear()
    assert count_tokens("something not counted before: zyxwvut") > 0


@pytest.mark.parametrize("character", ["a", " ", "\n", "=", "7", "字", "\u0301"])
def test_a_run_of_one_character_is_merged_in_short_pieces(character: str) -> None:
    # Merging n bytes costs n²: pieces must be short, and then a run ten times as long has ten times as many tokens.
    short, long = (len(encoding().encode_ordinary(character * n)) for n in (2_400, 24_000))
    assert long == 10 * short
