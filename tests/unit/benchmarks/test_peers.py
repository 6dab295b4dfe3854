"""The comparison with other systems: what it asks, and that its own way into Quarry finds what is there."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.growth import exponent
from benchmarks.peers.__main__ import shown
from benchmarks.peers.corpus import Corpus, K, load, make
from benchmarks.peers.systems import Cannot, Numpy, Quarry, Tantivy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    make(folder, 300, 1)
    return load(folder)


@pytest.mark.parametrize("below", [None, 100])
def test_quarry_and_an_exact_product_find_the_nearest(tmp_path: Path, corpus: Corpus, below: int | None) -> None:
    wanted = corpus.nearest(3, 1.0 if below is None else below / 1_000)
    for system in (Numpy(), Quarry()):
        system.take(corpus)
        system.build(tmp_path, corpus)
        assert set(system.vector(corpus.question_vectors[3], below)) == wanted
        system.close()


def test_quarry_replaces_deletes_and_opens_again(tmp_path: Path, corpus: Corpus) -> None:
    system = Quarry()
    system.take(corpus)
    system.build(tmp_path, corpus)
    first = system.hybrid(corpus.questions[0], corpus.question_vectors[0])
    assert len(first) == K
    system.replace(first[:2], corpus)
    system.delete(first[:1])
    system.close()
    again = Quarry()
    again.open(tmp_path)
    assert first[0] not in again.text(corpus.questions[0])
    again.close()


def test_what_a_system_cannot_do_is_said(corpus: Corpus) -> None:
    with pytest.raises(Cannot):
        Tantivy().vector(corpus.question_vectors[0])


def test_the_table_leaves_out_what_nobody_measured() -> None:
    figures = {"a": {"text": {"p50_ms": 1.0, "p95_ms": 2.0, "cpu_ms": 1.5}}, "b": {"text": None}}
    assert "| text" in shown(figures)
    assert "hybrid" not in shown(figures)
    assert "1.0 / 2.0 (1.5)" in shown(figures)


def test_the_exponent_is_that_of_the_growth() -> None:
    assert exponent([10, 100, 1000], [3.0, 3.0, 3.0]) == pytest.approx(0.0)
    assert exponent([10, 100, 1000], np.sqrt([10, 100, 1000]).tolist()) == pytest.approx(0.5)
