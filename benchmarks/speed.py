"""Upload, retrieval, filters, memory and cold open of the engine, as a program that imports it.

    python -m benchmarks.speed                 everything, about three minutes on two cores
    python -m benchmarks.speed --only upload   one part: upload, retrieve, vectors_given

Texts are drawn from the words of the standard library's documentation with Zipf's law and a printed seed, in topics, so
that vectors have neighbours.
Each part runs in a process of its own, so that memory is that part's alone. Times are wall clock, but for `cpu_ms`, the
processor time of a query, all threads together; p50 and p95 are over queries that were not asked before.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count as count_up
from pathlib import Path
from typing import Any

import numpy as np

import engine

SEED = 20261121
TOPICS = 200


def vocabulary() -> np.ndarray:
    """Words of the standard library's documentation, most frequent first: real words, the same on every machine."""
    from api.cli.stdlib_docs import documents, module_names  # imports all of it, which a measured process must not hold

    counted = Counter(
        word
        for name in module_names()
        for document in documents(name)
        for word in re.findall(r"[a-z]{2,}", str(document["body"]).lower())
    )
    return np.array(sorted(counted, key=lambda w: (-counted[w], w)))


class Texts:
    """Documents of a given length in `TOPICS` topics, and questions about them."""

    def __init__(self, seed: int = SEED) -> None:
        self.rng = np.random.default_rng(seed)
        self.words = vocabulary()
        ranks = np.arange(1, len(self.words) + 1)
        self.common = 1 / ranks / (1 / ranks).sum()
        self.topics = [self.rng.choice(len(self.words), 300, replace=False) for _ in range(TOPICS)]

    def body(self, length: int, topic: int) -> str:
        """`length` words, half of them of the topic, in sentences of about 15."""
        common = self.rng.choice(len(self.words), length, p=self.common)
        own = self.topics[topic][self.rng.integers(0, 300, length)]
        chosen = self.words[np.where(self.rng.random(length) < 0.5, common, own)]
        ends = range(15, length + 15, 15)
        return " ".join(" ".join(chosen[e - 15 : e]).capitalize() + "." for e in ends)

    def documents(self, count: int, length: int) -> Iterator[dict[str, object]]:
        for number in range(count):
            topic = int(self.rng.integers(TOPICS))
            yield {
                "id": f"d{number}",
                "title": " ".join(self.words[self.topics[topic][self.rng.integers(0, 300, 4)]]),
                "body": self.body(length, topic),
                "topic": topic,
                "thousandth": number % 1000,
            }

    def question(self) -> str:
        topic = int(self.rng.integers(TOPICS))
        return "which " + " ".join(self.words[self.topics[topic][self.rng.integers(0, 300, 7)]]) + " was found"


SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "topic": {"type": "int", "is_filterable": True},
    "thousandth": {"type": "int", "is_filterable": True},
}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def percentiles(samples: list[float]) -> dict[str, float]:
    ms = np.asarray(samples) * 1000
    return {f"p{p}_ms": round(float(np.percentile(ms, p)), 2) for p in (50, 95, 99)}


class Stages:
    """Adds up where the time goes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.each: dict[str, list[float]] = {}

    def observe(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + seconds, 3)
        self.each.setdefault(stage, []).append(seconds)

    def medians_ms(self) -> dict[str, float]:
        return {stage: round(1000 * float(np.median(seconds)), 2) for stage, seconds in self.each.items()}

    def count(self, name: str, n: int = 1) -> None:
        pass


def upload(folder: Path, count: int) -> dict[str, object]:
    """10,000 documents of 200 words in one call, until it returns; then until the whole graph is built."""
    documents = list(Texts().documents(count, 200))
    stages = Stages()
    with engine.open(folder, agent="offline", observer=stages) as quarry:
        quarry.upsert("warm", documents[:100], SCHEMA)
        stages.seconds.clear()
        begin = time.perf_counter()
        quarry.upsert("bench", documents, SCHEMA)
        acknowledged = time.perf_counter() - begin
        quarry.maintain("bench")
        whole = time.perf_counter() - begin
        passages = next(s.passages for s in quarry.stats() if s.name == "bench")
    return {
        "documents": count,
        "passages": passages,
        "documents_per_s": round(count / acknowledged),
        "whole_index_documents_per_s": round(count / whole),
        "stages_s": stages.seconds,
        "peak_mb": round(peak_mb()),
    }


QUESTIONS = 3_000


def build(folder: Path, count: int) -> float:
    """100,000 passages of 60 words; seconds until they are acknowledged. Leaves questions for `opened` beside them."""
    texts = Texts(SEED + 1)
    questions_file(folder).write_text("\n".join(texts.question() for _ in range(QUESTIONS)), encoding="utf-8")
    with engine.open(folder, agent="offline") as quarry:
        source = Texts().documents(count, 60)
        begin = time.perf_counter()
        quarry.upsert("bench", source, SCHEMA)
        took = time.perf_counter() - begin
        quarry.maintain("bench")
    return took


def questions_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.questions")


def opened(folder: Path, count: int) -> dict[str, object]:
    """Cold open, hybrid retrieval, filtered vector retrieval, offline search and memory at 100,000 passages."""
    asked = iter(questions_file(folder).read_text(encoding="utf-8").splitlines())
    question = asked.__next__
    stages = Stages()
    begin = time.perf_counter()
    quarry = engine.open(folder, agent="offline", observer=stages)
    first = quarry.retrieve("bench", question())
    cold = time.perf_counter() - begin
    out: dict[str, Any] = {"passages": count, "cold_open_and_first_query_s": round(cold, 3), "hits": len(first)}
    for mode in ("hybrid", "lexical", "vector", "planned"):
        stages.each.clear()
        cpu = time.process_time()
        out[f"retrieve_{mode}"] = percentiles(timed(300, lambda m=mode: quarry.retrieve("bench", question(), mode=m)))
        out[f"retrieve_{mode}"]["cpu_ms"] = round((time.process_time() - cpu) / 300 * 1000, 2)
        if mode == "hybrid":
            out["hybrid_stages_p50_ms"] = stages.medians_ms()
    out["resident_after_retrieve_mb"] = round(resident_mb())
    out["search_offline"] = percentiles(
        timed(60, lambda: quarry.search("bench", objective=question(), context="Background is not known."))
    )
    out["resident_after_retrieve_and_search_mb"] = round(resident_mb())
    once: dict[str, object] = {}
    again: dict[str, object] = {}
    turns = count_up()
    for share, where in (
        ("0.1%", {"thousandth": 7}),
        ("0.5%", {"topic": 3}),
        ("1%", {"thousandth": {"$lt": 10}}),
        ("5%", {"topic": {"$lt": 10}}),
        ("10%", {"thousandth": {"$lt": 100}}),
        ("50%", {"topic": {"$lt": 100}}),
    ):
        again[share] = percentiles(
            timed(100, lambda w=where: quarry.retrieve("bench", question(), filters=w, mode="vector"))
        )
        # A clause that is always true makes the filter one that was not asked before.
        once[share] = percentiles(
            timed(
                100,
                lambda w=where: quarry.retrieve(
                    "bench", question(), filters={"$and": [w, {"topic": {"$ne": TOPICS + next(turns)}}]}, mode="vector"
                ),
            )
        )
    out["filtered_vector"] = again
    out["filtered_vector_by_a_new_filter"] = once
    raw = count * 256 * 4 / 1e6
    out["resident_mb"] = round(resident_mb())
    out["memory_target_mb"] = round(2 * raw + 300)
    quarry.close()
    return out


def timed(times: int, call) -> list[float]:
    samples = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


class GivenVectors:
    """An embedder that draws its rows: what a user does who brings vectors."""

    name = "given-256"
    dimension = 256

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)

    def embed_passages(self, texts):
        rows = self.rng.standard_normal((len(texts), 256), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    embed_queries = embed_passages


def vectors_given(folder: Path, count: int) -> dict[str, object]:
    """100,000 short documents with vectors given, to the acknowledged upload and to the whole graph."""
    documents = list(Texts().documents(count, 60))
    with engine.open(folder, agent="offline", embedder=GivenVectors()) as quarry:
        begin = time.perf_counter()
        quarry.upsert("bench", documents, SCHEMA)
        acknowledged = time.perf_counter() - begin
        quarry.maintain("bench")
        whole = time.perf_counter() - begin
    return {
        "documents": count,
        "documents_per_s": round(count / acknowledged),
        "whole_index_documents_per_s": round(count / whole),
        "peak_mb": round(peak_mb()),
    }


PARTS = ("upload", "retrieve", "vectors_given")


def run_part(part: str, scale: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as scratch:
        folder = Path(scratch) / "data"
        if part == "upload":
            return upload(folder, int(10_000 * scale))
        if part == "vectors_given":
            return vectors_given(folder, int(100_000 * scale))
        count = int(100_000 * scale)
        build_seconds = json.loads(_child(["--build", str(folder), "--scale", str(scale)]))
        result = json.loads(_child(["--measure", str(folder), "--scale", str(scale)]))
        return {"upload_100k_s": round(build_seconds, 1), "documents_per_s": round(count / build_seconds), **result}


def _child(arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        print(json.dumps(build(options.build, int(100_000 * options.scale))))
        return
    if options.measure:
        print(json.dumps(opened(options.measure, int(100_000 * options.scale))))
        return
    figures: dict[str, object] = {"seed": SEED}
    for part in [options.only] if options.only else PARTS:
        if options.only:
            figures[part] = run_part(part, options.scale)
        else:
            figures |= json.loads(_child(["--only", part, "--scale", str(options.scale)]))
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
