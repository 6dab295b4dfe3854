"""What it costs to fetch 10 passages of 100,000 by label: all columns compressed by DuckDB, only the text, and none.

Run: python benchmarks/duckdb_lookup.py [ROWS]
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from engine.storage.connection import Database, connect, insert_rows
from engine.storage.passages import PassageRow, hydrate

FETCHED = 10
LOOKUPS = 300
WORDS = 60
_TABLES = Path(__file__).parents[1] / "engine" / "storage" / "migrations" / "namespace" / "0001_tables.sql"


def rows(count: int) -> list[PassageRow]:
    draw = np.random.default_rng(7)
    words = np.array(["".join(map(chr, draw.integers(97, 123, size))) for size in draw.integers(2, 11, 20_000)])
    vectors = draw.standard_normal((count, 256), dtype=np.float32)
    texts = (" ".join(words[draw.zipf(1.2, WORDS) % len(words)]) for _ in range(count))
    return [
        PassageRow(n, n, f"document-{n}", "body", 0, len(text), text, f"title {n}", vectors[n].tobytes())
        for n, text in enumerate(texts)
    ]


def filled(path: Path, given: list[PassageRow], tables: str) -> Database:
    database = connect(path, threads=2, memory_limit="2GB")
    with database.transaction() as cursor:
        cursor.execute(tables)
        insert_rows(cursor, "passages", PassageRow._fields, given)
    database.checkpoint()
    return database


def lookups(database: Database, count: int) -> list[float]:
    draw = np.random.default_rng(11)
    timings = []
    for _ in range(LOOKUPS):
        labels = draw.choice(count, FETCHED, replace=False).tolist()
        started = time.perf_counter()
        with database.reader() as cursor:
            hydrate(cursor, labels)
        timings.append(1000 * (time.perf_counter() - started))
    return timings


def main(count: int) -> None:
    given = rows(count)
    shipped = _TABLES.read_text(encoding="utf-8")
    variants = {
        "all": re.sub(r" USING COMPRESSION \w+", "", shipped),
        "text, as shipped": shipped,
        "none": shipped.replace(
            "    text VARCHAR NOT NULL,", "    text VARCHAR NOT NULL USING COMPRESSION uncompressed,"
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(2):
            for name, tables in variants.items():
                path = Path(folder) / f"{turn}-{name}.duckdb"
                database = filled(path, given, tables)
                p50, p95 = np.percentile(lookups(database, count), [50, 95])
                database.close()
                print(f"{name:<16} p50 {p50:.2f} ms  p95 {p95:.2f} ms  {path.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
