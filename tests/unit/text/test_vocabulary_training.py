"""The script that trained the shipped vocabulary."""

from __future__ import annotations

import tiktoken

from benchmarks.train_vocabulary import train
from engine.text.tokens import PATTERN

LINES = ["the harbour and the ships of the harbour", "Größe und Größen 北京 北京"] * 20


def test_what_is_trained_is_an_encoding_of_any_text() -> None:
    ranks = train(LINES)
    assert ranks[:256] == [bytes([byte]) for byte in range(256)]
    assert b" harbour" in ranks
    assert " 北京".encode() in ranks
    mergeable = {token: rank for rank, token in enumerate(ranks)}
    encoding = tiktoken.Encoding("trained", pat_str=PATTERN, mergeable_ranks=mergeable, special_tokens={})
    text = "the harbour 東京 \0 ß"
    assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_training_twice_gives_the_same_tokens() -> None:
    assert train(LINES) == train(LINES)
