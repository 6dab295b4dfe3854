"""The vector index against a dictionary, through adding, removing, renewal, saving and reopening."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.settings import VectorSettings
from engine.vector import graph_walk
from engine.vector.index import VectorIndex
from engine.vector.protocol import VectorReader
from tests.contracts.vector_index import DIMENSION, unit

Model = dict[int, np.ndarray]

# Small numbers, so that a handful of rows is enough for a graph and for its renewal.
_SETTINGS = VectorSettings(m=16, ef_construction=60, ef_search=200, exact_limit=5, graph_from=20)


class VectorIndexMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._step_cost, graph_walk.ROWS_A_STEP = graph_walk.ROWS_A_STEP, 0.0
        self.folder = Path(tempfile.mkdtemp())
        self.index = VectorIndex(DIMENSION, _SETTINGS)
        self.model: Model = {}
        self.next_label = 0
        self.saved: tuple[Model, int, int] | None = None
        self.readers: list[tuple[VectorReader, Model]] = []

    def teardown(self) -> None:
        self.index.close()
        shutil.rmtree(self.folder)
        graph_walk.ROWS_A_STEP = self._step_cost

    @initialize(count=st.integers(0, 80))
    def begin(self, count: int) -> None:
        self.add(count, 0, 1)

    @rule(count=st.integers(0, 60), gap=st.integers(0, 5), seed=st.integers(0, 50))
    def add(self, count: int, gap: int, seed: int) -> None:
        labels = np.arange(count, dtype=np.int64) * (gap + 1) + self.next_label + gap
        rows = unit(seed, count)
        self.index.add(labels, rows)
        self.model.update(zip(labels.tolist(), rows, strict=True))
        self.next_label = int(labels[-1]) + 1 if count else self.next_label

    @rule(share=st.floats(0, 1), seed=st.integers(0, 50))
    def remove(self, share: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        chosen = np.flatnonzero(rng.random(self.next_label + 3) < share * share).astype(np.int64)
        self.index.remove(chosen)
        for label in chosen.tolist():
            self.model.pop(label, None)

    @rule()
    def wait(self) -> None:
        assert self.index.wait_until_built(60)

    @rule()
    def clear(self) -> None:
        self.index.clear()
        self.model, self.next_label = {}, 0

    @rule()
    def read(self) -> None:
        self.readers = [*self.readers[-2:], (self.index.reader(), dict(self.model))]

    @rule(seq=st.integers(0, 1_000))
    def save(self, seq: int) -> None:
        self.index.save(self.folder, seq)
        self.saved = (dict(self.model), self.next_label, seq)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def reopen(self) -> None:
        assert self.saved is not None
        self.index.close()
        self.index, seq = VectorIndex.open(self.folder, DIMENSION, _SETTINGS)
        saved, self.next_label, saved_seq = self.saved
        self.model = dict(saved)
        assert seq == saved_seq

    @rule(seed=st.integers(0, 50), k=st.integers(0, 30), share=st.floats(0, 1))
    def search(self, seed: int, k: int, share: float) -> None:
        allowed = np.flatnonzero(np.random.default_rng(seed).random(self.next_label + 3) < share).astype(np.int64)
        for reader, model in [*self.readers, (self.index.reader(), self.model)]:
            agree(reader, model, unit(seed + 100, 1)[0], k, allowed)

    @invariant()
    def sizes_agree(self) -> None:
        assert len(self.index) == len(self.model)


def agree(reader: VectorReader, model: Model, query: np.ndarray, k: int, allowed: np.ndarray) -> None:
    assert len(reader) == len(model)
    for limit in (None, allowed):
        scores = {label: float(row @ query) for label, row in model.items() if limit is None or label in limit}
        found = reader.search(query, k, allowed=limit)
        best = sorted(scores.values(), reverse=True)[:k]
        assert len(set(found.labels.tolist())) == len(found) == len(best)
        np.testing.assert_allclose(found.scores, best, atol=4e-5)
        np.testing.assert_allclose([scores[label] for label in found.labels.tolist()], found.scores, atol=4e-5)
    asked = np.array([*sorted(model)[:5], 10**9], np.int64)
    expected = [model[label] @ query for label in sorted(model)[:5]] + [-1.0]
    np.testing.assert_allclose(reader.scores(query, asked), expected, atol=4e-5)


TestVectorIndex = VectorIndexMachine.TestCase
TestVectorIndex.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
