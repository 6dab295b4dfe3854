"""Vector search: recall and time at every selectivity, build rate, snapshot, memory.

    python -m benchmarks.vector_speed [--rows 100000] [--source texts|collections|words|clusters] [--m 24 …]
    python -m benchmarks.vector_speed --source collections --curve     the graph alone: recall by breadth

``texts``: WordLlama vectors of 60-word passages drawn from the docstrings of the standard library, questions from
other docstrings. ``collections``: passages of 60 words, one every 8 or 20 words, of the collections of
`benchmarks.data`, and their questions. ``words``: the random texts of `benchmarks.speed`, which hardly have neighbours.
``clusters``: 400 topics of Zipf sizes in 256 dimensions. Filters: ``random`` rows; ``range``, one stretch of rows;
``near`` and ``far``, the rows nearest to and farthest from the query, which no walk meets by chance.
`cpu` is the processor time of the asking thread, which on a busy machine says more than the wall clock.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
import pkgutil
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import SCHEMAS, data_folder, present_collections
from benchmarks.speed import Texts
from engine.embedding.registry import load_embedder
from engine.settings import VectorSettings
from engine.vector.exact import ExactReader, scan
from engine.vector.index import VectorIndex
from engine.vector.reader import IndexReader

QUERIES = 200
PASSAGE_WORDS = 60
SKIPPED = {"antigravity", "this", "idlelib", "turtledemo", "lib2to3", "test", "tkinter", "turtle"}


def docstrings() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in sorted(m.name for m in pkgutil.iter_modules() if not m.name.startswith("_")):
            if module in SKIPPED or module not in importlib.import_module("sys").stdlib_module_names:
                continue
            try:
                loaded = importlib.import_module(module)
            except Exception:  # noqa: BLE001 - modules of other systems
                continue
            for _, thing in inspect.getmembers(loaded):
                text = inspect.getdoc(thing)
                if text and len(text) > 80:
                    yield text
                if inspect.isclass(thing):
                    yield from (d for _, member in inspect.getmembers(thing) if (d := inspect.getdoc(member)))


def texts(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Passages that mix stretches of two or three docstrings, so that topics overlap as they do in real text."""
    distinct = sorted({" ".join(text.split()) for text in docstrings()})
    held_out, kept = distinct[::10], [t.split() for n, t in enumerate(distinct) if n % 10]
    passages = []
    for _ in range(rows):
        parts = [kept[int(n)] for n in rng.integers(0, len(kept), 3)]
        lengths = rng.dirichlet([3.0, 1.0, 0.5]) * PASSAGE_WORDS
        cuts = [(p, int(rng.integers(0, max(1, len(p) - int(n))))) for p, n in zip(parts, lengths, strict=True)]
        passages.append(
            " ".join(itertools.chain(*(p[s : s + int(n)] for (p, s), n in zip(cuts, lengths, strict=True))))
        )
    questions = [" ".join(held_out[int(n)].split()[:12]) for n in rng.integers(0, len(held_out), QUERIES)]
    embedder = load_embedder()
    start = time.perf_counter()
    vectors = embedder.embed_passages(passages)
    print(f"embedding: {rows / (time.perf_counter() - start):,.0f} passages of {PASSAGE_WORDS} words/s")
    return vectors, embedder.embed_queries(questions)


def collections(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    passages: list[str] = []
    questions: list[str] = []
    for collection in present_collections(SCHEMAS, data_folder(None)):
        step = 8 if collection.name in {"squad_dev", "hotpotqa_sample"} else 20
        for document in collection.documents():
            words = str(document["body"]).split()
            starts = range(0, max(1, len(words) - PASSAGE_WORDS // 2), step)
            passages += [f"{document['title']}\n{' '.join(words[s : s + PASSAGE_WORDS])}" for s in starts]
        questions += [question.text for question in collection.questions()]
    kept = rng.permutation(len(passages))[:rows]
    asked = rng.permutation(len(questions))[:QUERIES]
    return _embedded([passages[n] for n in kept], [questions[n] for n in asked])


def words(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    made = Texts(int(rng.integers(2**31)))
    passages = [f"{document['title']}\n{document['body']}" for document in made.documents(rows, PASSAGE_WORDS)]
    return _embedded(passages, [made.question() for _ in range(QUERIES)])


def _embedded(passages: list[str], questions: list[str]) -> tuple[np.ndarray, np.ndarray]:
    embedder = load_embedder()
    return embedder.embed_passages(passages), embedder.embed_queries(questions)


def clusters(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    weights = 1.0 / np.arange(1, 401)
    centres = rng.standard_normal((400, 256)) @ np.diag(np.arange(1, 257) ** -0.3)
    topic = rng.choice(400, rows + QUERIES, p=weights / weights.sum())
    noise = rng.standard_normal((rows + QUERIES, 256)) @ np.diag(np.arange(1, 257) ** -0.3)
    made = centres[topic] + 1.2 * noise
    made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return made[:rows], made[rows:]


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


class Sweep:
    def __init__(self, reader: IndexReader, labels: np.ndarray, vectors: np.ndarray, queries: np.ndarray) -> None:
        self.reader, self.labels, self.vectors, self.queries = reader, labels, vectors, queries

    def run(self, name: str, k: int, allowed_of: Callable[[np.ndarray], np.ndarray | None]) -> None:
        wall, cpu, recalls, strategies = [], [], [], {}
        sets = [allowed_of(query) for query in self.queries]
        answers = []
        for query, allowed in zip(self.queries, sets, strict=True):
            before, before_cpu = time.perf_counter(), time.thread_time()
            answers.append(self.reader.explain(query, k, allowed=allowed))
            wall.append(time.perf_counter() - before)
            cpu.append(time.thread_time() - before_cpu)
        # The truth afterwards: its scans would empty the caches between the queries.
        exact = ExactReader(self.reader._view)  # noqa: SLF001
        for query, allowed, explained in zip(self.queries, sets, answers, strict=True):
            strategies[explained.strategy] = strategies.get(explained.strategy, 0) + 1
            truth = exact.search(query, k, allowed=allowed)
            recalls.append(np.count_nonzero(explained.candidates.scores >= truth.scores[-1] - 1e-6) / len(truth))
        ways = ", ".join(f"{count} {way}" for way, count in strategies.items())
        print(
            f"{name:16} k={k:<4} recall {np.mean(recalls):.4f}   wall p50 {p(wall, 50)} p95 {p(wall, 95)}   "
            f"cpu p50 {p(cpu, 50)} p95 {p(cpu, 95)}   {ways}",
            flush=True,
        )

    def chosen(self, kind: str, share: float, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
        count = max(1, int(share * len(self.labels)))
        if kind == "random":
            allowed = self.labels[np.sort(rng.choice(len(self.labels), count, replace=False))]
            return lambda _: allowed
        if kind == "range":
            start = int(rng.integers(0, len(self.labels) - count + 1))
            return lambda _: self.labels[start : start + count]
        sign = 1 if kind == "far" else -1
        return lambda query: self.labels[np.sort(np.argpartition(sign * (self.vectors @ query), count - 1)[:count])]


def p(seconds: list[float], percentile: float) -> str:
    return f"{np.percentile(seconds, percentile) * 1e3:6.2f}"


def strategies(reader: IndexReader, queries: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> None:
    """What `ROWS_A_STEP`, `BREADTH` and `DENSE_SHARE` rest on: the cost of each way, and the recall of a breadth."""
    view, graph = reader._view, reader._epoch.built.graph  # noqa: SLF001
    for count in (1_000, 5_000, 10_000, 20_000, 50_000, len(labels)):
        rows = np.sort(rng.choice(len(labels), min(count, len(labels)), replace=False))
        spent = []
        for query in queries[:50]:
            before = time.thread_time()
            scan(view, query, 10, rows)
            spent.append(time.thread_time() - before)
        print(f"scan of {len(rows):7,} rows: {p(spent, 50)} ms cpu, {np.median(spent) / len(rows) * 1e6:.3f} µs a row")
    truth = [scan(view, query, 100).labels for query in queries]
    for breadth in (100, 200, 400, 600, 800, 1_200, 2_000):
        spent, found = [], []
        for query in queries:
            before = time.thread_time()
            found.append(graph.nearest(query, breadth).labels)
            spent.append(time.thread_time() - before)
        at = {k: np.mean([np.isin(t[:k], f).mean() for t, f in zip(truth, found, strict=True)]) for k in (10, 50, 100)}
        recalls = "  ".join(f"recall of the first {k}: {share:.4f}" for k, share in at.items())
        step = f"{p(spent, 50)} ms cpu, {np.median(spent) / breadth * 1e6:.2f} µs a step"
        print(f"graph, breadth {breadth:5}: {step}  {recalls}")


SOURCES = {"texts": texts, "collections": collections, "words": words, "clusters": clusters}


def main() -> None:
    defaults = VectorSettings()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--source", choices=SOURCES, default="texts")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--m", type=int, default=defaults.m)
    parser.add_argument("--ef-construction", type=int, default=defaults.ef_construction)
    parser.add_argument("--ef-search", type=int, default=defaults.ef_search)
    parser.add_argument("--curve", action="store_true", help="only the cost of the ways and the recall by breadth")
    parser.add_argument("--vectors", type=Path, help="a .npy of unit rows instead; queries beside it as …_q.npy")
    options = parser.parse_args()
    settings = VectorSettings(m=options.m, ef_construction=options.ef_construction, ef_search=options.ef_search)
    rng = np.random.default_rng(options.seed)
    print(f"{options} {settings}")
    if options.vectors:
        vectors = np.load(options.vectors)[: options.rows]
        queries = np.load(str(options.vectors).replace("_p.npy", "_q.npy"))[:QUERIES]
    else:
        vectors, queries = SOURCES[options.source](options.rows, rng)
    labels = np.cumsum(rng.integers(1, 3, len(vectors))).astype(np.int64)

    raw = vectors.nbytes / 1e6
    before_mb, start, started_cpu = resident_mb(), time.perf_counter(), time.process_time()
    index = VectorIndex(vectors.shape[1], settings)
    slowest = 0.0
    for first in range(0, len(vectors), 10_000):
        before = time.perf_counter()
        index.add(labels[first : first + 10_000], vectors[first : first + 10_000])
        slowest = max(slowest, time.perf_counter() - before)
    added = time.perf_counter() - start
    print(f"add: {len(vectors) / added:,.0f} rows/s findable, slowest 10,000 {slowest * 1e3:.1f} ms")
    index.wait_until_built()
    built, cpu = time.perf_counter() - start, time.process_time() - started_cpu
    print(
        f"graph: {len(vectors) / built:,.0f} rows/s; by processor time {2 * len(vectors) / cpu:,.0f} on two free cores"
    )
    print(f"memory: {resident_mb() - before_mb:,.0f} MB for {raw:,.0f} MB of vectors")

    if options.curve:
        strategies(index.reader(), queries, labels, rng)
        index.close()
        return
    folder = Path(tempfile.mkdtemp())
    start = time.perf_counter()
    index.save(folder, 1)
    print(f"save: {time.perf_counter() - start:.3f} s, {sum(f.stat().st_size for f in folder.iterdir()) / 1e6:,.0f} MB")
    start, started_cpu = time.perf_counter(), time.process_time()
    again, _ = VectorIndex.open(folder, vectors.shape[1], settings)
    took, cpu = time.perf_counter() - start, time.process_time() - started_cpu
    print(f"open: {took:.3f} s wall, {cpu:.3f} s cpu, {len(again):,} rows")
    again.close()
    shutil.rmtree(folder)

    reader = index.reader()
    strategies(reader, queries, labels, rng)
    sweep = Sweep(reader, labels, vectors, queries)
    for k in (10, 100):
        sweep.run("no filter", k, lambda _: None)
    for kind in ("random", "range", "near", "far"):
        for share in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5):
            sweep.run(f"{kind} {share:.1%}", 10, sweep.chosen(kind, share, rng))
    for share in (0.1, 0.5):
        sweep.run(f"random {share:.1%}", 100, sweep.chosen("random", share, rng))
    index.close()


if __name__ == "__main__":
    main()
