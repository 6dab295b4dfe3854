"""What each part of the default embedder gives, vectors only, on four collections.

    python -m benchmarks.embedding_ablation --data ../shared/data

Passages of at most 190 words with the title in front; a document ranks by its best passage. nDCG@10 over documents,
for MultiHop-RAG Hits@10: a passage of the first ten holds a whole evidence sentence, white space removed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.embedding import wordllama
from engine.embedding.pooling import by_count, saturated, to_unit_rows, weighted_sums, whitening

COLLECTIONS = ("scifact", "squad_dev", "hotpotqa_sample", "multihop_rag")
PASSAGE_WORDS = 190


@dataclass
class Collection:
    passages: list[str]
    document_of: np.ndarray
    queries: list[str]
    grades: list[dict[int, float]]
    evidence: list[set[int]] | None


def read_lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load(folder: Path) -> Collection:
    documents, queries = read_lines(folder / "documents.jsonl"), read_lines(folder / "queries.jsonl")
    number = {document["id"]: n for n, document in enumerate(documents)}
    grades: dict[str, dict[int, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[number[document]] = float(grade)
    passages, document_of = [], []
    for n, document in enumerate(documents):
        words = document["body"].split()
        parts = max(1, -(-len(words) // PASSAGE_WORDS))
        for part in range(parts):
            text = " ".join(words[part * len(words) // parts : (part + 1) * len(words) // parts])
            passages.append(f"{document['title']}. {text}")
            document_of.append(n)
    queries = [query for query in queries if query["id"] in grades]
    evidence = None
    if folder.name == "multihop_rag":
        evidence = [holders(query["evidence"], passages, document_of, number) for query in queries]
    return Collection(
        passages, np.array(document_of), [q["text"] for q in queries], [grades[q["id"]] for q in queries], evidence
    )


def holders(evidence: list[dict], passages: list[str], document_of: list[int], number: dict[str, int]) -> set[int]:
    found = set()
    for sentence in evidence:
        wanted, document = re.sub(r"\s+", "", sentence["fact"]), number[sentence["doc_id"]]
        first = np.searchsorted(document_of, document)
        last = np.searchsorted(document_of, document, side="right")
        found |= {n for n in range(first, last) if wanted in re.sub(r"\s+", "", passages[n])}
    return found


def score(collection: Collection, embed: Callable[[Iterable[str]], np.ndarray]) -> float:
    passages, queries = embed(collection.passages), embed(collection.queries)
    total, counted = 0.0, 0
    for n, query in enumerate(queries):
        order = np.argsort(-(passages @ query), kind="stable")
        if collection.evidence is not None:
            if collection.evidence[n]:
                counted += 1
                total += bool(collection.evidence[n] & set(order[:10].tolist()))
            continue
        ranked = list(dict.fromkeys(collection.document_of[order[:100]].tolist()))[:10]
        gains = [collection.grades[n].get(document, 0.0) for document in ranked]
        best = sorted(collection.grades[n].values(), reverse=True)[:10]
        total += dcg(gains) / dcg(best)
        counted += 1
    return total / counted


def dcg(gains: Iterable[float]) -> float:
    return sum(gain / np.log2(rank + 2) for rank, gain in enumerate(gains))


def variants() -> dict[str, Callable[[Iterable[str]], np.ndarray]]:
    library = wordllama.load_library()
    plain = library.table
    white = plain @ whitening(plain)
    one, both = library.tokenizer(both_cases=False), library.tokenizer(both_cases=True)
    # Merge order stands for frequency: Zipf's law over token ids, the 259 byte tokens first.
    rank = np.maximum(np.arange(len(plain)) - 258.0, 1.0)
    centred = plain - plain.mean(axis=0)
    top = np.linalg.svd(centred, full_matrices=False)[2][:1]

    def embedder(table, tokenizer, weights):
        blank = np.eye(1, table.shape[1], dtype=np.float32)[0]
        return lambda texts: to_unit_rows(weighted_sums(table, [tokenizer.ids(t) for t in texts], weights), blank)

    def sif(a):
        return (plain * (a / (a + 0.1 / (rank + 2.7)))[:, np.newaxis]).astype(np.float32)

    longer = np.linalg.norm(plain, axis=1, keepdims=True)
    named = {
        "mean (WordLlama.embed)": (plain, one, by_count),
        "SIF a=1e-4 (Arora et al. 2017)": (sif(1e-4), one, by_count),
        "SIF a=1e-3": (sif(1e-3), one, by_count),
        "first principal component removed": ((centred - centred @ top.T @ top).astype(np.float32), one, by_count),
        "token norms ** 1.3": (plain * longer**0.3, one, by_count),
        "token norms ** 0.7": (plain * longer**-0.3, one, by_count),
        "saturated k=1": (plain, one, saturated(1)),
        "saturated k=3": (plain, one, saturated(3)),
        "saturated k=8": (plain, one, saturated(8)),
        "whitened": (white, one, by_count),
        "both cases": (plain, both, by_count),
        "whitened, saturated k=3": (white, one, saturated(3)),
        "whitened, saturated k=5, both cases": (white, both, saturated(10)),
        "whitened, saturated k=3, both cases (the default)": (white, both, saturated(6)),
    }
    return {name: embedder(*parts) for name, parts in named.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("QUARRY_BENCH_DATA", "../shared/data")))
    folder = parser.parse_args().data
    present = [name for name in COLLECTIONS if (folder / name).is_dir()]
    if not present:
        raise SystemExit(f"no evaluation data in {folder}; give --data or QUARRY_BENCH_DATA")
    collections = [load(folder / name) for name in present]
    print(f"{'':52}" + "".join(f"{name:>17}" for name in [*present, "mean"]))
    for name, embed in variants().items():
        start = time.perf_counter()
        scores = [score(collection, embed) for collection in collections]
        print(f"{name:52}" + "".join(f"{s:17.3f}" for s in [*scores, np.mean(scores)]), end="")
        print(f"   {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
