"""Whole answers of the offline agent: evidence, refusals, citations, latency.

    python -m benchmarks.answers                   all collections, each half by itself, some minutes on two cores
    python -m benchmarks.answers --half even       the half that settings are chosen on; `odd` confirms them
    python -m benchmarks.answers --limit 200       fewer questions of each collection
    python -m benchmarks.answers --workers 1       one collection after the other, for latencies of an idle machine
    python -m benchmarks.answers --json FILE       figures as JSON too

- EvidenceRecall: share of gold evidence sentences of MultiHop-RAG that an excerpt holds, white space removed; a refused
  question has none.
- answered, refused: questions that have an answer and got results; null questions, and questions put to a collection
  that they were not made for, that got none. The curve moves the judge's threshold; the chosen point is marked.
- answer_first, answer_said: share of the questions with a gold answer in words (SQuAD, HotpotQA) whose first sentence,
  or any sentence before the further documents, holds it; a refused question has none.
- verbatim: share of excerpts that stand in one attribute value of their document. citations: share of answers in which
  every marker names a result and every result is cited.
- Latency is wall clock of a whole search, questions one after the other in each worker.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.agent.answer.cite import markers
from engine.agent.answerer import JudgeThenWrite
from engine.agent.evidence.table import Table
from engine.agent.offline import judge as judging
from engine.agent.offline.agent import OfflineAgent
from engine.agent.searches import Searches
from engine.agent.steps import Judge, Steps, TurnBudget
from engine.agent.workers import Workers
from engine.assembly import Core, assemble
from engine.embedding.registry import load_embedder
from engine.model.observer import SilentObserver
from engine.model.search import SearchRequest, SearchResponse
from engine.question.turn import Question
from engine.settings import EngineSettings

TEXT = {"type": "string", "is_searchable": True}
LABEL = {"type": "string", "is_filterable": True}
SCHEMAS: dict[str, dict[str, Any]] = {
    "multihop_rag": {
        "title": TEXT,
        "body": TEXT,
        "source": LABEL,
        "category": LABEL,
        "author": LABEL,
        "published_at": {"type": "datetime", "is_filterable": True},
    },
    "squad_dev": {"title": TEXT, "body": TEXT},
    "scifact": {"title": TEXT, "body": TEXT},
    "hotpotqa_sample": {"title": TEXT, "body": TEXT},
}
CONTEXT = "Answer from the documents of this collection."
TODAY = date(2024, 1, 1)
OTHERS = 600
"""Questions of a collection other than MultiHop-RAG, both halves together."""
STRANGERS = 160
"""Questions of each other collection that are put to a collection, both halves together."""


@dataclass
class Asked:
    """One question put to one collection."""

    origin: str
    number: int
    text: str
    kind: str
    facts: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass
class Outcome:
    """What came back, and how sure the judge was that it answers."""

    asked: Asked
    response: SearchResponse
    margin: float
    seconds: float
    faults: list[str] = field(default_factory=list)


class RecordingJudge(judging.OfflineJudge):
    """The judge, with the log-odds of its last decision."""

    last = float("-inf")

    def margin(self, question: Question, table: Table, together: Sequence[Sequence[str]] = ()) -> float:
        self.last = super().margin(question, table, together)
        return self.last


def read_questions(folder: Path) -> list[Asked]:
    """The questions of one collection; `kind` is ``null`` where the collection has no answer."""
    found: list[Asked] = []
    for number, line in enumerate((folder / "queries.jsonl").open(encoding="utf-8")):
        row = json.loads(line)
        facts = tuple(dict.fromkeys(e["fact"] for e in row.get("evidence", []) if "fact" in e))
        kind = "null" if row.get("question_type") == "null_query" else row.get("question_type") or "own"
        found.append(Asked(folder.name, number, row["text"], kind, facts, gold_answers(row)))
    return found


def gold_answers(row: dict[str, Any]) -> tuple[str, ...]:
    """The answers in words, folded; none where the answer is yes or no."""
    given = row.get("answers") or ([row["answer"]] if isinstance(row.get("answer"), str) else [])
    texts = [spaced(entry["text"] if isinstance(entry, dict) else entry) for entry in given]
    return tuple(text for text in texts if text not in ("", "yes", "no"))


def spaced(text: str) -> str:
    """Case folded, white space as one space."""
    return " ".join(text.casefold().split())


def chosen(questions: list[Asked], half: str, limit: int | None) -> list[Asked]:
    """Questions of one half or both, as many of each, spread evenly where there are more than `limit`."""
    if half == "all":
        each = None if limit is None else (limit + 1) // 2
        both = chosen(questions, "even", each) + chosen(questions, "odd", each)
        return sorted(both, key=lambda q: q.number)
    questions = [q for q in questions if q.number % 2 == (half == "odd")]
    if limit is not None and len(questions) > limit:
        questions = [questions[place * len(questions) // limit] for place in range(limit)]
    return questions


def judged_by(judge: Judge, core: Core, agent: OfflineAgent, workers: Workers) -> Searches:
    """Searches on the offline steps with another judge."""

    def steps(budget: TurnBudget) -> Steps:
        held = agent.steps(budget)
        answerer = held.answerer
        if isinstance(answerer, JudgeThenWrite):
            answerer = type(answerer)(judge, answerer.synthesizer)
        return Steps(held.planner, held.reader, answerer, held.clarifier)

    budget = EngineSettings(agent="offline").budget
    plan_now = agent.planner.plan_now
    return Searches(
        core.retriever, core.backend, core.sessions, steps, plan_now, budget, SilentObserver(), lambda: TODAY, workers
    )


def ask_all(core: Core, namespace: Any, questions: Sequence[Asked]) -> Iterator[Outcome]:
    """Every question as a whole search on the offline steps."""
    embedder = load_embedder("wordllama")
    judge = RecordingJudge(embedder)
    agent = OfflineAgent(embedder)

    workers = Workers()
    searches = judged_by(judge, core, agent, workers)
    for question in questions:
        judge.last = float("-inf")
        begin = time.perf_counter()
        request = SearchRequest(objective=question.text, context=CONTEXT)
        response = core.run(lambda request=request: searches.start(namespace, request))
        seconds = time.perf_counter() - begin
        documents = {d.id: d.body for d in core.backend.get(namespace.id, [r.id for r in response.results])}
        yield Outcome(question, response, judge.last, seconds, faults_of(response, documents))
    workers.close()


def faults_of(response: SearchResponse, documents: dict[str, dict[str, Any]]) -> list[str]:
    """What is wrong with an answer; empty for a right one."""
    faults: list[str] = []
    for result in response.results:
        texts = [t for value in documents[result.id].values() for t in (value if isinstance(value, list) else [value])]
        faults += [
            "verbatim"
            for e in result.excerpts
            if not any(isinstance(t, str) and e in t for t in texts) or len(e) > 1000
        ]
        if not 1 <= len(result.excerpts) <= 5:
            faults.append("excerpts")
        if not re.search(r"[.!?…][\"'”’»)\]]*$", result.finding):
            faults.append("finding")
    if sorted(set(markers(response.synthesis))) != list(range(1, len(response.results) + 1)):
        faults.append("citations")
    if response.status != "completed":
        faults.append(response.status)
    return faults


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def evidence_recall(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """By type of question, and of all."""
    found: dict[str, list[int]] = {}
    for outcome in outcomes:
        if outcome.asked.kind == "null":
            continue
        excerpts = [squeezed(e) for r in outcome.response.results for e in r.excerpts]
        for fact in outcome.asked.facts:
            hit = any(squeezed(fact) in excerpt for excerpt in excerpts)
            for kind in ("all", outcome.asked.kind):
                found.setdefault(kind, []).append(hit)
    return {kind: float(np.mean(hits)) for kind, hits in sorted(found.items())}


def answers_held(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """How often the synthesis holds the gold answer, in its first sentence and in any."""
    asked = [o for o in outcomes if o.asked.answers]
    if not asked:
        return {}
    said = [spaced(o.response.synthesis if o.response.results else "") for o in asked]
    first = [re.split(r" \[\d+\]", text, maxsplit=1)[0] for text in said]

    def held(texts: Sequence[str]) -> float:
        return float(np.mean([any(a in text for a in o.asked.answers) for o, text in zip(asked, texts, strict=True)]))

    return {"answer_first": held(first), "answer_said": held(said)}


def share(margins: Sequence[float], threshold: float) -> float:
    """Share at or above `threshold`."""
    return float(np.mean(np.asarray(margins) >= threshold)) if margins else float("nan")


def report(home: str, half: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Print and return the figures of one collection."""
    own = [o for o in outcomes if o.asked.origin == home and o.asked.kind != "null"]
    null = [o for o in outcomes if o.asked.kind == "null" and o.asked.origin == home]
    strange = [o for o in outcomes if o.asked.origin != home]
    excerpts = sum(len(r.excerpts) for o in outcomes for r in o.response.results)
    faults = [f for o in outcomes for f in o.faults]
    answered = [o for o in outcomes if o.response.results]
    milliseconds = np.asarray([o.seconds for o in own]) * 1000
    figures: dict[str, Any] = {
        "answered": float(np.mean([bool(o.response.results) for o in own])),
        "refused_null": float(np.mean([not o.response.results for o in null])) if null else None,
        "refused_strange": float(np.mean([not o.response.results for o in strange])) if strange else None,
        "verbatim": 1 - faults.count("verbatim") / max(1, excerpts),
        "citations": 1 - faults.count("citations") / max(1, len(answered)),
        "whole_findings": 1 - faults.count("finding") / max(1, sum(len(o.response.results) for o in outcomes)),
        "other_faults": sorted(set(faults) - {"verbatim", "citations", "finding"}),
        "results": float(np.mean([len(o.response.results) for o in answered])) if answered else 0.0,
        "excerpts": excerpts / max(1, sum(len(o.response.results) for o in answered)),
        "synthesis_characters": float(np.mean([len(o.response.synthesis) for o in answered])) if answered else 0.0,
        "queries": float(np.mean([o.response.queries_executed for o in own])),
        "p50_ms": float(np.percentile(milliseconds, 50)),
        "p95_ms": float(np.percentile(milliseconds, 95)),
    }
    if home in ("squad_dev", "hotpotqa_sample"):
        figures |= answers_held(own)
    if home == "multihop_rag":
        figures["evidence_recall"] = evidence_recall(own)
    print(f"\n{home}, {half}: {len(own)} questions, {len(null)} without an answer, {len(strange)} of other collections")
    for name, value in figures.items():
        print(f"  {name:22} {value if not isinstance(value, float) else round(value, 4)}")
    print(f"  {'log-odds':>9} {'answered':>9} {'null refused':>13} {'strange refused':>16}")
    for threshold in sorted({*np.arange(-1.5, 2.01, 0.5).tolist(), judging.ANSWERABLE}):
        mark = " ← chosen" if threshold == judging.ANSWERABLE else ""
        columns = [
            share([o.margin for o in own], threshold),
            1 - share([o.margin for o in null], threshold),
            1 - share([o.margin for o in strange], threshold),
        ]
        print(f"  {threshold:9.2f} {columns[0]:9.3f} {columns[1]:13.3f} {columns[2]:16.3f}{mark}")
        figures.setdefault("curve", []).append([threshold, *columns])
    return figures


def measured(home: str, options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """What is printed for one collection, and its figures by half."""
    printed = io.StringIO()
    questions = {name: read_questions(options.data / name) for name in SCHEMAS}
    limit = options.limit or (None if home == "multihop_rag" else OTHERS)
    put = chosen(questions[home], options.half, limit)
    for other in SCHEMAS if not options.no_strangers else ():
        if other != home:
            put += chosen(questions[other], options.half, min(STRANGERS, limit or STRANGERS))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        path = Path(folder) / home
        with engine.open(path, agent="offline") as quarry:
            with (options.data / home / "documents.jsonl").open(encoding="utf-8") as lines:
                quarry.upsert("collection", map(json.loads, lines), SCHEMAS[home])
            namespace = quarry.namespace("collection")
        core = assemble(path, "wordllama", EngineSettings(agent="offline"), SilentObserver())
        try:
            outcomes = list(ask_all(core, namespace, put))
        finally:
            core.close()
        figures: dict[str, Any] = {}
        for half in ("even", "odd") if options.half == "all" else (options.half,):
            figures[half] = report(home, half, [o for o in outcomes if o.asked.number % 2 == (half == "odd")])
    return printed.getvalue(), figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--half", choices=["even", "odd", "all"], default="all")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only", choices=sorted(SCHEMAS))
    parser.add_argument("--no-strangers", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no evaluation data at {options.data}; give --data")
    figures: dict[str, Any] = {}
    homes = [options.only] if options.only else list(SCHEMAS)
    # A process that was forked would share locks with threads that it does not have.
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for home, done in [(home, pool.submit(measured, home, options)) for home in homes]:
            text, figures[home] = done.result()
            print(text, end="", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
