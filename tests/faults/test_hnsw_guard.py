"""Calls that end the process in hnswlib end in our errors here. Each in a process of its own: a signal fails it.

The processes are forked from one that has imported the engine once.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("hnswlib")

_SETUP = """
import numpy as np, pathlib, sys, tempfile, threading
from engine.errors import StorageError
from engine.vector.hnsw import HnswGraph
from engine.vector.index import VectorIndex
from engine.settings import VectorSettings

def unit(count, dimension=16, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)

def refused(error, call):
    try:
        call()
    except error:
        return
    raise SystemExit(3)

def create():
    return HnswGraph.create(16, m=16, ef_construction=40)

graph = create()
graph.add(np.arange(1000), unit(1000))
folder = pathlib.Path(tempfile.mkdtemp())
query = unit(1, seed=1)[0]
"""

_CASES = {
    "a query of NaN": "refused(ValueError, lambda: graph.nearest(query * np.float32('nan'), 5))",
    "a query of infinity": "refused(ValueError, lambda: graph.nearest(query * np.float32('inf'), 5))",
    "a query of zeros": "refused(ValueError, lambda: graph.nearest(query * 0, 5))",
    "a wider query": "refused(ValueError, lambda: graph.nearest(unit(1, 17)[0], 5))",
    "a narrower query": "refused(ValueError, lambda: graph.nearest(query[:8], 5))",
    "a query of two axes": "refused(ValueError, lambda: graph.nearest(unit(2), 5))",
    "a query of float64": "refused(ValueError, lambda: graph.nearest(query.astype(np.float64), 5))",
    "a query that is not contiguous": "assert len(graph.nearest(np.repeat(query, 2)[::2], 5)) == 5",
    "k beyond the rows": "assert len(graph.nearest(query, 10_000)) <= 1000",
    "k of nothing": "assert len(graph.nearest(query, 0)) == 0",
    "k below nothing": "assert len(graph.nearest(query, -3)) == 0",
    "an empty graph": "assert len(create().nearest(query, 5)) == 0",
    "saving and marking an empty graph": "create().mark_removed(np.arange(5)); create().save(folder / 'x')",
    "every row removed": "graph.mark_removed(np.arange(1000)); assert len(graph.nearest(query, 5)) == 0",
    "removed twice and never there": "assert graph.mark_removed(np.array([1, 1, 5000, -1])) == 1",
    "rows of NaN": "refused(ValueError, lambda: graph.add(np.array([1000]), unit(1) * np.float32('nan')))",
    "rows of zeros": "refused(ValueError, lambda: graph.add(np.array([1000]), unit(1) * 0))",
    "wider rows": "refused(ValueError, lambda: graph.add(np.array([1000]), unit(1, 17)))",
    "rows of float64": "refused(ValueError, lambda: graph.add(np.array([1000]), unit(1).astype(float)))",
    "negative labels": "refused(ValueError, lambda: graph.add(np.array([-1]), unit(1)))",
    "labels again": "refused(ValueError, lambda: graph.add(np.array([5]), unit(1)))",
    "fewer labels than rows": "refused(ValueError, lambda: graph.add(np.array([1000]), unit(2)))",
    "beyond the capacity": "graph.add(np.arange(1000, 30_000), unit(29_000)); assert len(graph) == 30_000",
    "a folder that is not there": "refused(StorageError, lambda: graph.save(folder / 'no' / 'x'))",
    "a full disk": "refused(StorageError, lambda: graph.save(pathlib.Path('/dev/full')))",
    "a file that is not there": ("refused(StorageError, lambda: HnswGraph.load(folder / 'x', 16, total=1, removed=0))"),
    "growing beside queries": """
stop = threading.Event()
def ask():
    while not stop.is_set():
        graph.nearest(query, 10)
threads = [threading.Thread(target=ask) for _ in range(2)]
[thread.start() for thread in threads]
for capacity in range(5_000, 200_000, 5_000):
    graph.reserve(capacity)
stop.set()
[thread.join() for thread in threads]
""",
    "saving beside adding": """
def add():
    for start in range(1000, 6000, 250):
        graph.add(np.arange(start, start + 250), unit(250, seed=start))
thread = threading.Thread(target=add)
thread.start()
while thread.is_alive():
    saved = graph.save(folder / 'x')
    HnswGraph.load(folder / 'x', 16, total=saved.total, removed=0).nearest(query, 5)
""",
    "an index that is used after it was closed": """
index = VectorIndex(16, VectorSettings(graph_from=100))
index.add(np.arange(1000), unit(1000))
index.close()
index.add(np.arange(1000, 1010), unit(10))
index.save(folder, 1)
assert len(index.reader().search(query, 5)) == 5
""",
}

_LEAVING = """
index = VectorIndex(16, VectorSettings(graph_from=100))
index.add(np.arange(50_000), unit(50_000))
"""


_FORKS = """
import json, os, sys, traceback
import numpy, engine.vector.index
setup, cases = json.loads(sys.argv[1])
codes = {}
for name, case in cases.items():
    child = os.fork()
    if child == 0:
        code = 1
        try:
            exec(compile(setup + case, name, "exec"), {})
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    codes[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def exit_codes() -> dict[str, int]:
    """Of each case; negative for a signal."""
    command = [sys.executable, "-c", _FORKS, json.dumps([_SETUP, _CASES])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    sys.stderr.write(done.stderr)
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", _CASES)
def test_the_process_survives(exit_codes: dict[str, int], case: str) -> None:
    assert exit_codes[case] == 0


def test_a_process_that_leaves_while_a_graph_is_being_built_ends_well() -> None:
    command = [sys.executable, "-c", _SETUP + _LEAVING]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
