"""What each feature does to two passages that are equal in all else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.analysis.analyzer import query_terms
from engine.analysis.stop_words import stop_terms
from engine.model.document import Passage
from engine.model.hits import Candidates
from engine.ranking.passage_terms import PassageTerms
from engine.ranking.rerank import TermReranker
from engine.ranking.terms import weigh_terms

FILLER = "and then nothing more of note was written down by anyone at all that year in this place " * 4


def order(query: str, texts: Sequence[tuple[str, str, str]], near: Sequence[float] = ()) -> list[int]:
    """Positions of ``(document, header, text)`` after reranking; all came with the same score.

    Args:
        near: cosines of the first passages, best first.
    """
    terms = list(dict.fromkeys(query_terms(query)))
    stops = [term in stop_terms(["en"]) for term in terms]
    passages = [
        Passage(label=at, document_id=document, attribute="body", start=0, end=len(text), text=text, header=header)
        for at, (document, header, text) in enumerate(texts)
    ]
    labels = np.arange(len(texts))
    cosines = Candidates(labels[: len(near)], np.array(near, np.float32))
    reranker = TermReranker(weigh_terms(terms, [5] * len(terms), stops, 1000), cosines)
    ranked = reranker.rerank(query, Candidates(labels, np.ones(len(texts), np.float32)), PassageTerms.of(passages))
    return ranked.labels.tolist()


def test_words_that_follow_each_other_as_in_the_question_come_first() -> None:
    apart, together = "guards harbour stone coast", "stone harbour coast guards"
    assert order("Who pays the coast guards?", [("a", "", apart), ("b", "", together)]) == [1, 0]


def test_the_order_of_words_tells_nothing_of_a_statement() -> None:
    apart, together = "guards harbour stone coast", "stone harbour coast guards"
    assert order("The coast guards are paid.", [("a", "", apart), ("b", "", together)]) == [0, 1]


def test_what_the_header_says_counts_beside_the_best_window() -> None:
    body = f"the tunnel was closed {FILLER}"
    texts = [("a", "", f"{body} Pellam"), ("b", "Pellam", body)]
    assert order("Why was the tunnel of Pellam closed?", texts) == [1, 0]


def test_a_header_that_the_question_names_wholly_comes_before_one_that_it_names_in_part() -> None:
    texts = [("a", "Pellam and its seven famous bridges", "the tunnel"), ("b", "Pellam", "the tunnel")]
    assert order("Where is the tunnel of Pellam?", texts) == [1, 0]


def test_all_passages_of_the_document_that_holds_the_nearest_one_gain_for_a_statement() -> None:
    texts = [("a", "", "gravel"), ("b", "", "gravel"), ("b", "", "sand"), ("c", "", "sand")]
    assert order("Tunnels leak.", [texts[1], texts[3], texts[0], texts[2]], [0.9, 0.1]) == [0, 3, 1, 2]


def test_nearness_is_left_to_the_fused_score_for_a_question() -> None:
    texts = [("a", "", "gravel"), ("b", "", "sand")]
    assert order("Do tunnels leak?", texts, [0.1]) == [0, 1]


def test_a_text_without_a_known_word_leaves_the_order() -> None:
    assert order("??", [("a", "", "gravel"), ("b", "", "sand")]) == [0, 1]
