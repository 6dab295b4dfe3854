"""Everything at once on one index, in a process of its own: no signal, no lost row, and recall where it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("hnswlib")

_RACE = """
import numpy as np, pathlib, tempfile, threading, time
from engine.settings import VectorSettings
from engine.vector import graph_walk
from engine.vector.exact import ExactReader
from engine.vector.index import VectorIndex

graph_walk.ROWS_A_STEP = 1.0
seed = 20261121
print("seed", seed)
dimension, seconds = 24, 4.0

def unit(count, seed):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)

index = VectorIndex(dimension, VectorSettings(m=16, ef_construction=60, ef_search=150, exact_limit=200, graph_from=500))
queries = unit(64, seed)
end = time.monotonic() + seconds
failures, strategies, shares = [], set(), []
removed = set()

def guarded(work):
    def run():
        try:
            work()
        except BaseException as error:
            failures.append(repr(error))
            raise
    return threading.Thread(target=run)

def ask():
    turn = 0
    while time.monotonic() < end:
        turn += 1
        query = queries[turn % 64]
        gone = set(removed)
        reader = index.reader()
        exact = ExactReader(reader._view)
        allowed = None
        if turn % 2:
            allowed = reader._view.labels[np.random.default_rng(turn).random(len(reader._view)) < 0.5]
        explained = reader.explain(query, 10, allowed=allowed)
        truth = exact.search(query, 10, allowed=allowed)
        assert not set(explained.candidates.labels.tolist()) & gone, "a removed row came back"
        assert len(explained.candidates) == len(truth)
        strategies.add(explained.strategy)
        if len(truth):
            shares.append(np.mean(explained.candidates.scores >= truth.scores[-1] - 1e-5))

def save():
    folder = pathlib.Path(tempfile.mkdtemp())
    seq = 0
    while time.monotonic() < end:
        with writing:
            seq += 1
            index.save(folder, seq)
            expected = len(index)
        again, found = VectorIndex.open(folder, dimension)
        assert (found, len(again)) == (seq, expected)
        again.close()
        time.sleep(0.05)

def write():
    rng = np.random.default_rng(seed)
    label = 0
    while time.monotonic() < end:
        with writing:
            count = int(rng.integers(1, 400))
            index.add(np.arange(label, label + count), unit(count, label))
            label += count
            if rng.random() < 0.5:
                chosen = rng.integers(0, label, int(rng.integers(1, 300)))
                index.remove(np.unique(chosen))
                removed.update(chosen.tolist())
        time.sleep(0.005)

writing = threading.Lock()
threads = [guarded(work) for work in (ask, ask, save, write)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failures, failures
assert index.wait_until_built(60)
print(len(index), strategies, len(shares), np.mean(shares))
assert "graph" in strategies
assert np.mean(shares) >= 0.95
index.close()
"""


def test_adding_removing_searching_and_saving_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", _RACE], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
