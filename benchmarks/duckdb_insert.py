"""How fast rows of passages get into DuckDB and back, by each way that needs neither pyarrow nor pandas.

Run: python benchmarks/duckdb_insert.py [ROWS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.storage.connection import Cursor, Database, connect, insert_rows

DIMENSION = 256
COLUMNS = ("label", "key", "document_id", "attribute", "start_at", "end_at", "text", "header", "vector")
TYPES = ("BIGINT", "BIGINT", "VARCHAR", "VARCHAR", "INTEGER", "INTEGER", "VARCHAR", "VARCHAR", "BLOB")
REPEATS = 3


def passages(count: int) -> list[tuple]:
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    text = "one of the words of a passage of about a kilobyte " * 20
    return [
        (n, n, f"document-{n}", "body", 0, len(text), f"{text}{n}", "A title", vectors[n].tobytes())
        for n in range(count)
    ]


def with_appender(cursor: Cursor, rows: list[tuple]) -> None:
    insert_rows(cursor, "passages", COLUMNS, rows)


def with_unnest(cursor: Cursor, rows: list[tuple]) -> None:
    values = ",".join(f"unnest(${n}::{kind}[])" for n, kind in enumerate(TYPES, start=1))
    cursor.execute(f"INSERT INTO passages SELECT {values}", [list(column) for column in zip(*rows, strict=True)])


def one_by_one(cursor: Cursor, rows: list[tuple]) -> None:
    marks = ",".join(f"${n}" for n in range(1, len(COLUMNS) + 1))
    for row in rows[: len(rows) // 20]:
        cursor.execute(f"INSERT INTO passages VALUES ({marks})", row)


def measure(database: Database, name: str, insert: Callable[[Cursor, list[tuple]], None], rows: list[tuple]) -> None:
    timings = []
    for _ in range(REPEATS):
        with database.transaction() as cursor:
            cursor.execute("DROP TABLE IF EXISTS passages")
            columns = ",".join(f"{column} {kind}" for column, kind in zip(COLUMNS, TYPES, strict=True))
            cursor.execute(f"CREATE TABLE passages ({columns}, PRIMARY KEY (label))")
        started = time.perf_counter()
        with database.transaction() as cursor:
            insert(cursor, rows)
            inserted = time.perf_counter()
            stored = cursor.execute("SELECT count(*) FROM passages").fetchone()
        ended = time.perf_counter()
        timings.append((inserted - started, ended - inserted, stored[0]))
    insert_s, commit_s, stored = sorted(timings)[len(timings) // 2]
    rate = stored / (insert_s + commit_s)
    times = f"insert {insert_s * 1e3:8.1f} ms  commit {commit_s * 1e3:7.1f} ms"
    print(f"{name:28s} {stored:7,d} rows  {times}  {rate:10,.0f} rows/s")


def read_back(database: Database) -> None:
    for columns in ("label, key", "label, text", "label, vector"):
        for how in ("fetchall", "fetchnumpy"):
            timings = []
            for _ in range(REPEATS + 2):
                with database.reader() as cursor:
                    started = time.perf_counter()
                    getattr(cursor.execute(f"SELECT {columns} FROM passages ORDER BY label"), how)()
                    timings.append(time.perf_counter() - started)
            print(f"read {columns:14s} {how:10s} {sorted(timings)[len(timings) // 2] * 1e3:8.1f} ms")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rows = passages(count)
    with tempfile.TemporaryDirectory() as folder:
        database = connect(Path(folder) / "bench.duckdb", threads=2, memory_limit="2GB")
        measure(database, "one INSERT a row (1/20)", one_by_one, rows)
        measure(database, "list parameters and unnest", with_unnest, rows)
        measure(database, "insert_rows (appender)", with_appender, rows)
        read_back(database)
        database.close()


if __name__ == "__main__":
    main()
