"""The table of evidence, gathered from arrays, against the same rules read off the words one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.evidence import vocabulary
from engine.agent.evidence.analysed import terms_of
from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.table import FORM, Table, begins_alike, ends_alike
from engine.analysis.analyzer import query_terms, query_terms_of_each
from engine.embedding.wordllama import WordLlamaEmbedder
from engine.question.terms import AskedTerms, asked_terms
from engine.text.passages import blocks
from tests.unit.agent.made import passage

_WORDS = (
    "The ferry ferries Mietvertrag Vertrag house housing sleeps slept cost price CVE-2024-3094 3.0.7 黑猫 fare? when #"
)
WORDS = st.sampled_from([*_WORDS.split(), "\n"])
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(lambda words: " ".join(words) + ".")
ASKED = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def slow(asked: AskedTerms, words: frozenset[str], likeness: Likeness | None) -> np.ndarray:
    """Credits of one text, word by word."""
    row = np.zeros(len(asked.terms), np.float32)
    near = likeness.credits([term.word for term in asked.terms], words) if likeness and asked.code == "en" else {}
    for word in words:
        row = np.maximum(row, near.get(word, 0.0))
        for number, term in enumerate(asked.terms):
            same = [f for f in term.forms if len(f) >= 4 and f.isalpha() and not term.is_pair and len(word) >= 4]
            alike = any(f[:4] == word[:4] and begins_alike(f, word) for f in same)
            alike = alike or any(f[-4:] == word[-4:] and ends_alike(f, word) for f in same)
            row[number] = max(row[number], 1.0 if word in term.forms else FORM if alike else 0.0)
    return row


@pytest.fixture(scope="module")
def likeness() -> Likeness:
    return Likeness(WordLlamaEmbedder())


@given(ASKED, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_every_credit_is_that_of_the_words_read_one_by_one(
    likeness: Likeness, question: str, texts: list[tuple[str, str]]
) -> None:
    asked = asked_terms(question, {})
    passages = [passage(n + 1, text, header=header).passage for n, (header, text) in enumerate(texts)]
    for near in (None, likeness):
        table = Table(asked, passages, likeness=near)
        if any(term.follows for term in asked.terms):
            continue  # pairs of characters are smoothed afterwards
        spans = [[held.text[s.start : s.end] for s in blocks(held.text)] for held in passages]
        own = [slow(asked, terms_of(text, asked.languages), near) for cut in spans for text in cut]
        np.testing.assert_allclose(table.own, np.reshape(own, table.own.shape), atol=1e-6)
        headers = [slow(asked, terms_of(held.header, asked.languages), near) for held in passages]
        np.testing.assert_allclose(table.header, headers, atol=1e-6)


@given(
    st.lists(TEXTS | st.text(max_size=30) | st.just("qxzjvkqx"), max_size=5), st.sampled_from([("en",), ("de", "en")])
)
def test_texts_read_together_have_the_terms_of_each_alone(texts: list[str], languages: tuple[str, ...]) -> None:
    assert query_terms_of_each(texts, languages) == [query_terms(text, languages) for text in texts]


def test_a_vocabulary_that_is_full_gives_way_to_another_and_credits_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_terms("When does the ferry sail to Lund?", {})
    held = [passage(1, "The ferry sails at nine. It costs 40 crowns.", header="Lund").passage]
    before = Table(asked, held)
    first = vocabulary.current()
    monkeypatch.setattr(vocabulary, "MOST_WORDS", 1)
    after = Table(asked, held)
    assert vocabulary.current() is not first
    np.testing.assert_array_equal(before.sentences, after.sentences)


def test_words_beyond_what_is_remembered_are_compared_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_terms("What does the ferry cost?", {})
    held = [passage(1, "The price of the boat is 40 crowns, said nobody of them.").passage]
    whole = Table(asked, held, likeness=Likeness(WordLlamaEmbedder())).own
    assert whole.max() > 0
    for kept in (14, 3):
        monkeypatch.setattr("engine.agent.evidence.likeness._KEPT", kept)
        small = Likeness(WordLlamaEmbedder())
        for _ in range(3):
            np.testing.assert_allclose(Table(asked, held, likeness=small).own, whole, atol=1e-6)
