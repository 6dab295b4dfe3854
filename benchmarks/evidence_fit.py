"""Fits the weights by which the offline judge tells an answer from "not found".

    python -m benchmarks.evidence_fit              prints weights, and the shares they give; about ten minutes
    python -m benchmarks.evidence_fit --asked 40   of fewer questions, to see that it runs

Questions are put to their own collection, to the others, to every other article of their own (XQuAD, with the data of
their language and without, and `benchmarks.articles`), and to the open half of `benchmarks.everyday` with its near
misses. Even questions are fitted, odd ones confirm; and each collection and each language is left out once, to see what
the weights are worth where none of their questions come from.

Two figures are set after the fit: the bias, so that `ANSWERED` of the questions of other languages than English are
answered, and `USUAL_COSINE`, so that this changes nothing for English.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import engine
from benchmarks import articles
from benchmarks.answers import CONTEXT, SCHEMAS, Asked, chosen, judged_by, read_questions
from benchmarks.everyday.__main__ import FOLDER as EVERYDAY
from benchmarks.everyday.__main__ import NEAR, OFF, schema_of
from benchmarks.languages import SCHEMA as PARAGRAPH
from benchmarks.languages import drop_language
from benchmarks.quality import sample
from engine.agent.evidence.table import Table
from engine.agent.offline.agent import OfflineAgent
from engine.agent.offline.judge import USUAL_COSINE, WEIGHTS, OfflineJudge, Values
from engine.agent.workers import Workers
from engine.assembly import assemble
from engine.embedding.registry import load_embedder
from engine.model.observer import SilentObserver
from engine.model.search import SearchRequest
from engine.question.turn import Question
from engine.settings import EngineSettings

ASKED, STRANGERS = 160, 40
"""Questions of a collection, and of each other one that are put to it."""
ANSWERED = 0.93
LANGUAGES = ("ar", "de", "es", "zh")
WEIGHT = {"own": 4.0, "null": 3.0, "near": 3.0, "stranger": 2.0, "off": 1.0}
"""Of a kind of question in a group, however many there are."""
GROUP_WEIGHT = {"articles": 0.12, "dropped": 0.6}
"""Of groups that are small, or are another's again; 1 for the others."""
RIDGE = 2e-3
FIELDS = Values.__struct_fields__


@dataclass(frozen=True)
class Case:
    """A question put to documents.

    Attributes:
        group: the kind of collection and its name, ``"language de"``.
        kind: a key of `WEIGHT`; only ``own`` has an answer.
        values: None where the judge refused without looking at them.
    """

    group: str
    kind: str
    is_even: bool
    values: Values | None


class Recorder(OfflineJudge):
    """Keeps what a decision is made of, and ends the search there."""

    last: Values | None = None

    def margin(self, question: Question, table: Table, together: Sequence[Sequence[str]] = ()) -> float:
        answers = super().margin(question, table, together) > float("-inf")
        self.last = self.values(question, table, together) if answers else None
        return float("-inf")


def ask(
    group: str, documents: Sequence[dict[str, Any]], schema: dict[str, Any], put: Sequence[tuple[str, str]]
) -> Iterator[Case]:
    """`put`: kind and text of each question."""
    embedder = load_embedder("wordllama")
    recorder, agent = Recorder(embedder), OfflineAgent(embedder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with engine.open(folder, agent="offline") as quarry:
            quarry.upsert("asked", list(documents), schema)
            namespace = quarry.namespace("asked")
        core = assemble(folder, "wordllama", EngineSettings(agent="offline"), SilentObserver())
        workers = Workers()
        searches = judged_by(recorder, core, agent, workers)
        for number, (kind, text) in enumerate(put):
            recorder.last = None
            request = SearchRequest(objective=text, context=CONTEXT)
            core.run(lambda request=request: searches.start(namespace, request))
            yield Case(group, kind, number % 2 == 0, recorder.last)
        workers.close()
        core.close()


def recorded(group: str, data: Path, asked: int) -> list[Case]:
    """Every case of one group."""
    form, name = group.split(" ", 1)
    if form == "dropped":
        drop_language(name)
    if form in ("language", "dropped"):
        return list(halves(group, data / f"xquad_{name}", PARAGRAPH, asked))
    if form == "half":
        return list(halves(group, data / name, SCHEMAS[name], asked))
    if form == "articles":
        return list(of_articles(group, name))
    if form == "everyday":
        return list(of_everyday(group, name))
    return list(whole(group, data, name, asked))


def halves(group: str, folder: Path, schema: dict[str, Any], limit: int) -> Iterator[Case]:
    """Every other article of a collection, asked about all of them; then the other half of the articles."""
    documents, asked = rows(folder / "documents.jsonl"), rows(folder / "queries.jsonl")
    article = {d: row["article"] for row in asked for d in row["evidence_doc_ids"]}
    names = sorted(set(article.values()))
    for first in (0, 1):
        held = set(names[first::2])
        kept = [{k: v for k, v in d.items() if k in schema or k == "id"} for d in documents]
        put = [("own" if row["article"] in held else "stranger", row["text"]) for row in sample(asked, limit)]
        yield from ask(group, [d for d in kept if article.get(d["id"]) in held], schema, put)


def of_articles(group: str, language: str) -> Iterator[Case]:
    """The same of `benchmarks.articles`, with its near misses."""
    found = articles.paragraphs(language)
    names = list(dict.fromkeys(p["article"] for p in found))
    for first in (0, 1):
        held = names[first::2]
        put = [("own" if p["article"] in held else "stranger", text) for p in found for text, _ in p["questions"]]
        put += [(NEAR, text) for p in found for text in p["near"] if p["article"] in held]
        kept = [{"id": p["id"], "body": p["body"]} for p in found if p["article"] in held]
        yield from ask(group, kept, PARAGRAPH, put)


def of_everyday(group: str, half: str) -> Iterator[Case]:
    """The first question of each session."""
    for path in sorted((EVERYDAY / half).glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        put = [(q["kind"] if q["kind"] in (NEAR, OFF) else "own", q["text"]) for q in held["questions"]]
        yield from ask(group, held["documents"], schema_of(held["documents"]), put)


def whole(group: str, data: Path, home: str, limit: int) -> Iterator[Case]:
    """A collection, asked its own questions and those of the others."""
    questions = {name: read_questions(data / name) for name in SCHEMAS}
    put = [*_kinds(questions[home], "own", limit), *_kinds(questions[home], "null", limit)]
    for other in SCHEMAS:
        if other != home:
            put += [("stranger", text) for _, text in _kinds(questions[other], "own", STRANGERS)]
    yield from ask(group, rows(data / home / "documents.jsonl"), SCHEMAS[home], put)


def _kinds(questions: Sequence[Asked], kind: str, limit: int) -> list[tuple[str, str]]:
    return [
        (kind, q.text) for q in chosen([q for q in questions if (q.kind == "null") == (kind == "null")], "all", limit)
    ]


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def fitted(cases: Sequence[Case]) -> dict[str, float]:
    """Weighted logistic regression with a small ridge, by Newton's method; then the bias, see the module."""
    counts = Counter((c.group, c.kind) for c in cases)
    seen = [c for c in cases if c.values is not None]
    weights = np.asarray(
        [WEIGHT[c.kind] / counts[c.group, c.kind] * GROUP_WEIGHT.get(c.group.split(" ")[0], 1.0) for c in seen]
    )
    weights /= weights.sum()
    target = np.asarray([c.kind == "own" for c in seen], np.float64)
    table = np.asarray([[getattr(c.values, name) for name in FIELDS] for c in seen])
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    scaled = np.c_[(table - mean) / spread, np.ones(len(table))]
    held = np.zeros(scaled.shape[1])
    for _ in range(40):
        chance = 1 / (1 + np.exp(-(scaled @ held)))
        slope = scaled.T @ ((chance - target) * weights) + RIDGE * np.append(held[:-1], 0.0)
        curve = (scaled * (weights * chance * (1 - chance))[:, None]).T @ scaled + RIDGE * np.eye(len(held))
        held -= np.linalg.solve(curve, slope)
    raw = held[:-1] / spread
    found = dict(zip(FIELDS, raw.tolist(), strict=True)) | {"bias": float(held[-1] - raw @ mean), "usual": 0.0}
    foreign = [score(c, found) for c in cases if c.group.startswith("language") and c.kind == "own"]
    shift = -float(np.quantile(foreign, 1 - ANSWERED))
    found["bias"] += shift
    found["usual"] = shift / found["similarity"]
    return found


def score(case: Case, weights: dict[str, float]) -> float:
    """Log-odds that a case answers; `usual` is taken off a cosine where there is one."""
    if case.values is None:
        return -1e9
    off = weights["usual"] * weights["similarity"] if case.values.similarity else 0.0
    return weights["bias"] - off + sum(weights[name] * getattr(case.values, name) for name in FIELDS)


def shares(cases: Sequence[Case], weights: dict[str, float]) -> str:
    """Answered and refused, by group."""
    seen: dict[str, dict[str, list[bool]]] = {}
    for case in cases:
        right = (score(case, weights) >= 0) == (case.kind == "own")
        seen.setdefault(case.group, {}).setdefault(case.kind, []).append(right)
    return "\n".join(
        f"    {group:26} " + "  ".join(f"{kind} {np.mean(right):.3f}" for kind, right in sorted(kinds.items()))
        for group, kinds in sorted(seen.items())
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--asked", type=int, default=ASKED, help="questions of a collection")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no evaluation data at {options.data}; give --data")
    groups = [f"{form} {code}" for form in ("language", "dropped") for code in LANGUAGES]
    groups += [f"articles {code}" for code in articles.LANGUAGES]
    groups += ["everyday open", "half squad_dev", *(f"whole {name}" for name in SCHEMAS if name != "squad_dev")]
    # Each in a process of its own: a language that is dropped stays dropped.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=spawn, max_tasks_per_child=1) as pool:
        cases = [
            c
            for found in pool.map(recorded, groups, [options.data] * len(groups), [options.asked] * len(groups))
            for c in found
        ]
    even, odd = [c for c in cases if c.is_even], [c for c in cases if not c.is_even]
    weights = fitted(even)
    weights_in_code = {name: round(value, 3) for name, value in weights.items() if name != "usual"}
    print(f"{weights_in_code}, usual cosine {USUAL_COSINE + weights['usual']:.3f}\n(in the code: {WEIGHTS})")
    print(f"  even\n{shares(even, weights)}\n  odd\n{shares(odd, weights)}")
    print(f"  all, with the weights in the code\n{shares(cases, msgspec.structs.asdict(WEIGHTS) | {'usual': 0.0})}")
    for name in (*LANGUAGES, *articles.LANGUAGES, "everyday open", *(f"whole {name}" for name in SCHEMAS)):
        left_out = [c for c in cases if name in (c.group, c.group.split(" ", 1)[1])]
        if left_out:
            without = fitted([c for c in even if name not in (c.group, c.group.split(" ", 1)[1])])
            print(f"  fitted without {name}\n{shares(left_out, without)}")


if __name__ == "__main__":
    main()
