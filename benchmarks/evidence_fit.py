"""Fits the weights by which the offline judge tells an answer from "not found".

    python -m benchmarks.evidence_fit              prints weights, and the shares they give; a quarter of an hour

Questions are put to their own collection, to the others, to every other article of their own (XQuAD), and to small
parts of their own: one to twenty documents, with the one that answers and without it. Even questions are fitted, odd
ones confirm; and each collection and each language is left out once, to see what the weights are worth where none of
their questions come from.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import engine
from benchmarks.answers import CONTEXT, SCHEMAS, Asked, chosen, judged_by, read_questions
from engine.agent.evidence.table import Table
from engine.agent.offline.agent import OfflineAgent
from engine.agent.offline.judge import WEIGHTS, OfflineJudge, Values
from engine.agent.steps import Question
from engine.agent.workers import Workers
from engine.assembly import assemble
from engine.embedding.registry import load_embedder
from engine.model.observer import SilentObserver
from engine.model.search import SearchRequest
from engine.settings import EngineSettings

SEED = 5
PARTS = 160
SIZES = (1, 2, 3, 4, 5, 8, 12, 20)
OTHERS, STRANGERS = 300, 100
LANGUAGES = ("xquad_ar", "xquad_de", "xquad_es", "xquad_zh")
WEIGHT = {"own": 4.0, "null": 3.0, "stranger": 2.0, "gone": 0.5}
"""Of a kind of question in a collection, however many there are."""
OF_PART = 0.15
"""The same for small parts, as a share."""
RIDGE = 2e-3
FIELDS = Values.__struct_fields__


@dataclass(frozen=True)
class Case:
    """A question put to documents.

    Attributes:
        group: the collection, and whether it is whole.
        kind: a key of `WEIGHT`; only ``own`` has an answer.
    """

    home: str
    group: str
    kind: str
    is_even: bool
    values: Values


class Recorder(OfflineJudge):
    """Keeps what a decision is made of, and ends the search there."""

    last: Values | None = None

    def margin(self, question: Question, table: Table, together: Sequence[Sequence[str]] = ()) -> float:
        answers = super().margin(question, table, together) > float("-inf")
        self.last = self.values(question, table, together) if answers else None
        return float("-inf")


def ask(folder: Path, put: Sequence[tuple[str, str, str, str, Asked]]) -> Iterator[Case]:
    """`put`: namespace, home, group, kind and question."""
    embedder = load_embedder("wordllama")
    recorder, agent = Recorder(embedder), OfflineAgent(embedder)

    with engine.open(folder, agent="offline") as quarry:
        namespaces = {name: quarry.namespace(name) for name in {entry[0] for entry in put}}
    settings = EngineSettings(agent="offline")
    core = assemble(folder, "wordllama", settings, SilentObserver())
    workers = Workers()
    searches = judged_by(recorder, core, agent, workers)
    for name, home, group, kind, question in put:
        recorder.last = None
        request = SearchRequest(objective=question.text, context=CONTEXT)
        core.run(lambda name=name, request=request: searches.start(namespaces[name], request))
        if recorder.last is not None:
            yield Case(home, group, kind, question.number % 2 == 0, recorder.last)
    workers.close()
    core.close()


def whole(data: Path, folder: Path) -> Iterator[Case]:
    """Every collection, asked its own questions and those of the others."""
    questions = {name: read_questions(data / name) for name in SCHEMAS}
    for home, schema in SCHEMAS.items():
        with engine.open(folder / home, agent="offline") as quarry:
            quarry.upsert(home, rows(data / home / "documents.jsonl"), schema)
        own = chosen(questions[home], "all", None if home == "multihop_rag" else OTHERS)
        put = [(home, home, home, "null" if q.kind == "null" else "own", q) for q in own]
        for other in SCHEMAS:
            strangers = chosen(questions[other], "all", STRANGERS) if other != home else []
            put += [(home, home, home, "stranger", q) for q in strangers if q.kind != "null"]
        yield from ask(folder / home, put)


def halves(data: Path, folder: Path) -> Iterator[Case]:
    """Every other article of a collection, asked about all of them."""
    for home in (*LANGUAGES, "squad_dev"):
        documents, asked = rows(data / home / "documents.jsonl"), rows(data / home / "queries.jsonl")
        article = {d: row["article"] for row in asked for d in row["evidence_doc_ids"]}
        held = set(sorted(set(article.values()))[::2])
        kept = [{k: v for k, v in d.items() if k in SCHEMAS["squad_dev"] or k == "id"} for d in documents]
        with engine.open(folder / f"half {home}", agent="offline") as quarry:
            schema = {"body": SCHEMAS["squad_dev"]["body"]} if home in LANGUAGES else SCHEMAS["squad_dev"]
            quarry.upsert("half", [d for d in kept if article.get(d["id"]) in held], schema)
        questions = chosen(read_questions(data / home), "all", OTHERS)
        put = [
            ("half", home, home if home in LANGUAGES else f"half of {home}", kind, question)
            for question in questions
            for kind in ["own" if asked[question.number]["article"] in held else "stranger"]
        ]
        yield from ask(folder / f"half {home}", put)


def parts(data: Path, folder: Path) -> Iterator[Case]:
    """Small parts of the collections, asked what they hold, what was left out, and what belongs elsewhere."""
    rng = random.Random(SEED)
    documents = {name: {d["id"]: d for d in rows(data / name / "documents.jsonl")} for name in SCHEMAS}
    questions = {name: read_questions(data / name) for name in SCHEMAS}
    gold = {name: answered_by(data / name) for name in SCHEMAS}
    put: list[tuple[str, str, str, str, Asked]] = []
    with engine.open(folder / "parts", agent="offline") as quarry:
        for number in range(PARTS):
            home = rng.choice(list(SCHEMAS))
            own = [q for q in questions[home] if gold[home].get(q.number)]
            held = rng.sample(own, 3)
            kept = {document for q in held for document in gold[home][q.number]}
            everything = sorted(documents[home])
            kept |= set(rng.sample(everything, max(0, rng.choice(SIZES) - len(kept))))
            gone = rng.sample([q for q in own if not gold[home][q.number] & kept], 3)
            other = rng.choice([name for name in SCHEMAS if name != home])
            quarry.upsert(f"n{number}", [documents[home][d] for d in sorted(kept)], SCHEMAS[home])
            for kind, asked in (
                ("own", held),
                ("gone", gone),
                ("stranger", rng.sample([q for q in questions[other] if q.kind != "null"], 2)),
            ):
                put += [(f"n{number}", home, f"part of {home}", kind, q) for q in asked]
    yield from ask(folder / "parts", put)


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answered_by(folder: Path) -> dict[int, set[str]]:
    """Number of a question → the documents that answer it."""
    number = {row["id"]: place for place, row in enumerate(rows(folder / "queries.jsonl"))}
    found: dict[int, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        if int(grade) > 0 and question in number:
            found.setdefault(number[question], set()).add(document)
    return found


def fitted(cases: Sequence[Case], fields: Sequence[str]) -> dict[str, float]:
    """Weighted logistic regression with a small ridge, by Newton's method."""
    counts = Counter((c.group, c.kind) for c in cases)
    weights = np.asarray(
        [WEIGHT[c.kind] / counts[c.group, c.kind] * (OF_PART if c.group.startswith("part") else 1.0) for c in cases]
    )
    weights /= weights.sum()
    target = np.asarray([c.kind == "own" for c in cases], np.float64)
    table = np.asarray([[getattr(c.values, name) for name in fields] for c in cases])
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    scaled = np.c_[(table - mean) / spread, np.ones(len(table))]
    held = np.zeros(scaled.shape[1])
    for _ in range(40):
        chance = 1 / (1 + np.exp(-(scaled @ held)))
        slope = scaled.T @ ((chance - target) * weights) + RIDGE * np.append(held[:-1], 0.0)
        curve = (scaled * (weights * chance * (1 - chance))[:, None]).T @ scaled + RIDGE * np.eye(len(held))
        held -= np.linalg.solve(curve, slope)
    raw = held[:-1] / spread
    return dict(zip(fields, raw.tolist(), strict=True)) | {"bias": float(held[-1] - raw @ mean)}


def shares(cases: Sequence[Case], weights: dict[str, float]) -> str:
    """Answered and refused, by group."""
    seen: dict[tuple[str, str], list[bool]] = {}
    for case in cases:
        score = weights["bias"] + sum(
            weights.get(name, 0.0) * getattr(case.values, name) for name in Values.__struct_fields__
        )
        seen.setdefault((case.group, case.kind), []).append((score >= 0) == (case.kind == "own"))
    return "\n".join(f"    {group:26} {kind:9} {np.mean(right):.3f}" for (group, kind), right in sorted(seen.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no evaluation data at {options.data}; give --data")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cases = [*halves(options.data, place), *whole(options.data, place), *parts(options.data, place)]
    even, odd = [c for c in cases if c.is_even], [c for c in cases if not c.is_even]
    weights = fitted(even, FIELDS)
    print({name: round(value, 3) for name, value in weights.items()}, f"\n(in the code: {WEIGHTS})")
    print(f"  even\n{shares(even, weights)}\n  odd\n{shares(odd, weights)}")
    for left_out in (*SCHEMAS, *LANGUAGES):
        without = fitted([c for c in even if c.home != left_out], FIELDS)
        print(f"  fitted without {left_out}\n{shares([c for c in cases if c.home == left_out], without)}")


if __name__ == "__main__":
    main()
