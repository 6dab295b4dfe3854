"""Laws of fusion, term features, reranking and selection."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.term_ids import term_ids
from engine.model.hits import Candidates, top_k
from engine.ranking.features import CLAUSE_WINDOW, HEADER_SHARE, PHRASE_GAP, WINDOW, term_features
from engine.ranking.fusion import fuse, reciprocal_rank_fusion, vector_weight, weighted_sum
from engine.ranking.passage_terms import PassageTerms, TermTexts
from engine.ranking.rerank import TermReranker, scores_of
from engine.ranking.terms import QueryTerms, weigh_terms

SCORES = st.floats(-1.0, 30.0, width=32)


@st.composite
def runs(draw, low=0.0, high=30.0):
    labels = draw(st.lists(st.integers(0, 25), unique=True, max_size=20))
    scores = draw(st.lists(st.floats(low, high, width=32), min_size=len(labels), max_size=len(labels)))
    return top_k(np.array(labels, np.int64), np.array(scores, np.float32), len(labels))


def is_ranking(candidates: Candidates) -> bool:
    pairs = list(zip(candidates.labels.tolist(), candidates.scores.tolist(), strict=True))
    ordered = all(a[1] > b[1] or (a[1] == b[1] and a[0] < b[0]) for a, b in pairwise(pairs))
    return ordered and len(set(candidates.labels.tolist())) == len(candidates)


@given(lexical=runs(), vector=runs(-1.0, 1.0), k=st.integers(0, 40), terms=st.integers(0, 80))
def test_fusion_ranks_what_either_leg_brought_up(lexical, vector, k, terms) -> None:
    fused = fuse(lexical, vector, k, terms=terms)
    either = set(lexical.labels.tolist()) | set(vector.labels.tolist())
    assert is_ranking(fused)
    assert set(fused.labels.tolist()) <= either
    if len(lexical):
        assert len(fused) == min(k, len(either))


@given(lexical=runs(1.0), vector=runs(-1.0, 1.0))
def test_a_passage_that_is_better_in_both_legs_is_never_behind(lexical, vector) -> None:
    fused = fuse(lexical, vector, 100)
    rank = {label: at for at, label in enumerate(fused.labels.tolist())}
    both = sorted(set(lexical.labels.tolist()) & set(vector.labels.tolist()))
    words, cosines = scores_of(lexical, np.array(both, np.int64)), scores_of(vector, np.array(both, np.int64))
    for i, a in enumerate(both):
        for j, b in enumerate(both):
            if words[i] > words[j] + 0.01 and cosines[i] > cosines[j] + 0.01:
                assert rank[a] < rank[b]


@given(terms=st.integers(0, 200), more=st.integers(0, 200))
def test_the_vector_of_a_longer_question_never_weighs_more(terms, more) -> None:
    assert 0 < vector_weight(terms + more) <= vector_weight(terms)


@given(found=st.lists(runs(), max_size=5), seed=st.integers(0, 99), k=st.integers(0, 30))
def test_the_order_of_runs_does_not_matter(found, seed, k) -> None:
    shuffled = [found[i] for i in np.random.default_rng(seed).permutation(len(found))]
    for one, other in (
        (reciprocal_rank_fusion(found, k), reciprocal_rank_fusion(shuffled, k)),
        (weighted_sum([(r, 1.0) for r in found], k), weighted_sum([(r, 1.0) for r in shuffled], k)),
    ):
        assert is_ranking(one)
        assert one.labels.tolist() == other.labels.tolist()
        assert one.scores.tolist() == other.scores.tolist()


@given(found=st.lists(runs(), min_size=1, max_size=4), more=st.integers(0, 20), k=st.integers(0, 20))
def test_a_longer_result_begins_with_the_shorter_one(found, more, k) -> None:
    few, many = reciprocal_rank_fusion(found, k), reciprocal_rank_fusion(found, k + more)
    assert many.labels[: len(few)].tolist() == few.labels.tolist()


TEXTS = st.lists(st.lists(st.integers(1, 12), max_size=40), min_size=1, max_size=6)


@st.composite
def questions(draw):
    query = draw(st.lists(st.integers(1, 15), unique=True, min_size=1, max_size=8))
    weights = draw(st.lists(st.floats(0.125, 9.0, width=32), min_size=len(query), max_size=len(query)))
    stops = draw(st.lists(st.booleans(), min_size=len(query), max_size=len(query)))
    return np.array(query, np.uint32), np.array(weights, np.float32), np.array(stops, np.bool_)


def as_passages(texts, headers, documents) -> PassageTerms:
    return PassageTerms(
        np.arange(len(texts)),
        tuple(documents),
        TermTexts.of(texts),
        TermTexts.of(headers),
        TermTexts.of([]),
        np.empty(0, np.int64),
    )


def content_weights(query, weights, stops) -> dict[int, float]:
    return {
        term: weight
        for term, weight, stop in zip(query.tolist(), weights.tolist(), stops.tolist(), strict=True)
        if not stop
    }


def headed_window_by_hand(text: list[int], header: list[int], query, weights, stops) -> float:
    weight_of = content_weights(query, weights, stops)

    def value(window: set[int]) -> float:
        beside = HEADER_SHARE * sum(weight_of.get(t, 0.0) for t in set(header) - window)
        return beside + sum(weight_of.get(t, 0.0) for t in window)

    return max((value(set(text[at : at + CLAUSE_WINDOW])) for at in range(len(text))), default=value(set()))


def phrase_by_hand(fields: list[list[int]], query, weights, stops) -> float:
    content = list(content_weights(query, weights, stops).items())
    held = total = 0.0
    for (first, a), (second, b) in pairwise(content):
        total += min(a, b)
        follows = any(
            second in field[at + 1 : at + 1 + PHRASE_GAP]
            for field in fields
            for at, term in enumerate(field)
            if term == first
        )
        held += min(a, b) if follows else 0.0
    return held / total if total else 0.0


def window_by_hand(text: list[int], query, weights, stops) -> float:
    weight_of = content_weights(query, weights, stops)
    return max(
        (sum(weight_of.get(t, 0.0) for t in set(text[at : at + WINDOW])) for at in range(len(text))), default=0.0
    )


@given(question=questions(), texts=TEXTS, seed=st.integers(0, 99))
def test_features_equal_their_definition(question, texts, seed) -> None:
    query, weights, stops = question
    rng = np.random.default_rng(seed)
    headers = [rng.integers(1, 15, rng.integers(0, 4)).tolist() for _ in texts]
    documents = [f"d{rng.integers(3)}" for _ in texts]
    found = term_features(query, weights, stops, as_passages(texts, headers, documents))
    total = float(weights.sum())
    held = [set(text) | set(header) for text, header in zip(texts, headers, strict=True)]
    for at, text in enumerate(texts):
        together = set().union(*(h for h, d in zip(held, documents, strict=True) if d == documents[at]))
        for value, terms in ((found.coverage[at], held[at]), (found.document_coverage[at], together)):
            by_hand = sum(w for t, w in zip(query.tolist(), weights.tolist(), strict=True) if t in terms)
            assert value == pytest.approx(by_hand / total, abs=1e-4)
        assert found.window[at] == pytest.approx(window_by_hand(text, query, weights, stops) / total, abs=1e-4)
        headed = headed_window_by_hand(text, headers[at], query, weights, stops)
        assert found.headed_window[at] == pytest.approx(headed / total, abs=1e-4)
        assert found.phrase[at] == pytest.approx(phrase_by_hand([text, headers[at]], query, weights, stops), abs=1e-4)
        terms = set(headers[at])
        named = len(terms & content_weights(query, weights, stops).keys()) / max(len(terms), 1)
        assert found.named[at] == pytest.approx(named, abs=1e-6)


@given(question=questions(), texts=TEXTS, extra=st.integers(1, 15))
def test_a_passage_never_loses_by_another_word_at_its_end(question, texts, extra) -> None:
    query, weights, stops = question
    beside = [[]] * len(texts), ["d"] * len(texts)
    before = term_features(query, weights, stops, as_passages(texts, *beside))
    longer = [[*text, extra] for text in texts]
    after = term_features(query, weights, stops, as_passages(longer, *beside))
    assert (after.coverage >= before.coverage - 1e-6).all()
    assert (after.window >= before.window - 1e-6).all()


@given(question=questions(), texts=TEXTS, unread=st.integers(0, 4), mark=st.sampled_from(["", " ?"]))
def test_reranking_keeps_every_label_and_what_was_not_read_stays_behind_in_order(question, texts, unread, mark) -> None:
    query, weights, stops = question
    terms = QueryTerms(
        tuple(map(str, query.tolist())), np.ones(len(query), np.float32), weights, stops, np.ones(len(query), np.int64)
    )
    written = [term_ids(list(map(str, text))).tolist() for text in texts]
    passages = as_passages(written, [[]] * len(texts), [str(at % 2) for at in range(len(texts))])
    labels = np.arange(len(texts) + unread)
    candidates = Candidates(labels, np.linspace(1.0, 0.5, len(labels)).astype(np.float32))
    near = Candidates(labels[:2], np.array([0.5, 0.25][: len(labels)], np.float32))
    ranked = TermReranker(terms, near).rerank(" ".join(terms.terms) + mark, candidates, passages)
    assert sorted(ranked.labels.tolist()) == labels.tolist()
    assert ranked.labels[len(texts) :].tolist() == labels[len(texts) :].tolist()
    assert (np.diff(ranked.scores) <= 0).all()


@given(df=st.lists(st.integers(0, 50), min_size=2, max_size=8), passages=st.integers(1, 60))
def test_a_rarer_term_never_weighs_less(df, passages) -> None:
    weighed = weigh_terms([str(n) for n in range(len(df))], df, [False] * len(df), passages)
    order = np.argsort(df, kind="stable")
    assert (np.diff(weighed.weights[order]) <= 1e-6).all()
    assert (weighed.weights >= 0).all()
    assert (weighed.factors > 0).all()
    assert (weighed.factors <= 1.0 + 1e-6).all()
