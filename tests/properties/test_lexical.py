"""Laws of the lexical index."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.analysis.analyzer import indexable, query_terms, text_analyzer
from engine.analysis.scripts import is_single_unspaced
from engine.lexical import reader as reader_module
from engine.lexical.index import LexicalIndex, LexicalPassage, LexicalQuery

WORDS = ["tide", "harbour", "ferry", "storm", "gull", "rope", "the", "mast", "深海", "прилив"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory):
    rng = np.random.default_rng(11)
    index, _ = LexicalIndex.open(tmp_path_factory.mktemp("laws") / "lexical")
    passages = [
        LexicalPassage(label, " ".join(rng.choice(WORDS, 2)), " ".join(rng.choice(WORDS, rng.integers(1, 9))))
        for label in range(0, 900, 3)
    ]
    index.apply(passages[:200], np.empty(0, np.int64), 1)
    index.apply(passages[200:], np.array([p.label for p in passages[::7]]), 2)
    yield index.reader(), {p.label for p in passages} - {p.label for p in passages[::7] if p in passages[:200]}
    index.close()


@given(text=TEXTS, k=st.integers(0, 40), seed=st.integers(0, 2**16), share=st.floats(0.0, 1.0), few=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_searching_under_a_filter_is_filtering_the_whole_ranking(
    corpus, monkeypatch, text, k, seed, share, few
) -> None:
    reader, _ = corpus
    # Both ways of answering a filter: fetched and dropped, or looked up in the index.
    monkeypatch.setattr(reader_module, "MAX_OVERFETCH", 0 if few else 5_000)
    allowed = np.flatnonzero(np.random.default_rng(seed).random(1_000) < share).astype(np.int64)
    whole = reader.search(LexicalQuery(text), 10_000)
    keep = np.isin(whole.labels, allowed)
    found = reader.search(LexicalQuery(text), k, allowed=allowed)
    assert found.labels.tolist() == whole.labels[keep][:k].tolist()
    assert found.scores.tolist() == whole.scores[keep][:k].tolist()


@given(text=TEXTS, k=st.integers(0, 30), more=st.integers(0, 30))
def test_asking_for_more_keeps_what_came_first(corpus, text, k, more) -> None:
    reader, _ = corpus
    few, many = reader.search(LexicalQuery(text), k), reader.search(LexicalQuery(text), k + more)
    assert many.labels[: len(few)].tolist() == few.labels.tolist()


@given(text=TEXTS)
def test_removed_labels_never_come_back(corpus, text) -> None:
    reader, live = corpus
    assert set(reader.search(LexicalQuery(text), 10_000).labels.tolist()) <= live


@given(text=st.text(max_size=300))
def test_a_text_asked_as_a_question_gives_terms_that_it_is_indexed_by(text: str) -> None:
    analyzer = text_analyzer("en")
    indexed = set(analyzer.analyze(indexable(text, "en")))
    asked = {term for term in query_terms(text) if not is_single_unspaced(term)}
    assert asked <= indexed
