from __future__ import annotations

import numpy as np
import pytest

from engine.embedding.checked import CheckedEmbedder
from engine.embedding.wordllama import WordLlamaEmbedder
from engine.retrieval.query_vector import MAX_WORDS, weighs_words, weighted_by_rarity

TEXT = "The quokka sleeps"
RARITY = {"the": 0.01, "quokka": 6.0, "sleep": 2.0}


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def cosine(embedder: WordLlamaEmbedder, vector: np.ndarray, text: str) -> float:
    return float(vector @ embedder.embed_queries([text])[0])


def test_the_rare_word_gains_and_the_frequent_one_loses(embedder: WordLlamaEmbedder) -> None:
    weighed, (mean,) = weighted_by_rarity(embedder, TEXT, RARITY), embedder.embed_queries([TEXT])
    assert cosine(embedder, weighed, "quokka") > cosine(embedder, mean, "quokka")
    assert cosine(embedder, weighed, "the") < cosine(embedder, mean, "the")
    assert np.linalg.norm(weighed) == pytest.approx(1.0, abs=1e-5)
    assert weighed.dtype == np.float32


def test_words_of_one_stem_each_count(embedder: WordLlamaEmbedder) -> None:
    once, twice = (weighted_by_rarity(embedder, text, RARITY) for text in ("quokka", "quokka quokkas"))
    assert cosine(embedder, twice, "quokkas") > cosine(embedder, once, "quokkas")


@pytest.mark.parametrize("text", ["", "?!", "Le quokka dort profondément"])
def test_a_text_whose_terms_are_mostly_unknown_keeps_its_own_vector(embedder: WordLlamaEmbedder, text: str) -> None:
    # Only near: a row of a matrix product and a product of one row round their last bit as the machine likes.
    own, kept = embedder.embed_queries([text])[0], weighted_by_rarity(embedder, text, {"quokka": 6.0})
    assert np.allclose(kept, own, rtol=0.0, atol=1e-6)


def test_of_a_long_text_the_rarest_words_are_weighed(embedder: WordLlamaEmbedder) -> None:
    words = [f"word{n}" for n in range(3 * MAX_WORDS)]
    rarity = {word: 1.0 + n for n, word in enumerate(words)}
    few = {word: rarity[word] for word in words[-MAX_WORDS:]} | dict.fromkeys(words[:-MAX_WORDS], 1e-9)
    text = " ".join(words)
    assert np.allclose(weighted_by_rarity(embedder, text, rarity), weighted_by_rarity(embedder, text, few), atol=1e-5)


def test_only_an_embedder_that_adds_up_words_is_weighed(embedder: WordLlamaEmbedder) -> None:
    assert weighs_words(embedder)
    assert not weighs_words(CheckedEmbedder(embedder))
