from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.storage.connection import connect

COUNTED = """
import json, os, sys, duckdb
from pathlib import Path
from engine.storage.connection import connect

folder, seen = Path(sys.argv[1]), {}
def count(when):
    seen[when] = len(os.listdir("/proc/self/task"))

count("before")
first = connect(folder / "a.duckdb", threads=1, memory_limit="100MB")
count("one open")
duckdb.connect(":memory:", config={"threads": 1, "async_threads": 1}).close()
count("a stranger closed")
connect(folder / "b.duckdb", threads=1, memory_limit="100MB").close()
count("another of ours closed")
first.close()
count("none open")
print(json.dumps(seen))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_the_allocators_thread_outlives_the_close_of_any_database_but_the_last(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", COUNTED, str(tmp_path)], capture_output=True, text=True, check=True)
    seen = json.loads(ran.stdout)
    assert seen["a stranger closed"] == seen["one open"] - 1, "DuckDB no longer ends it: the module has no work left"
    assert seen["another of ours closed"] == seen["one open"]
    assert seen["none open"] == seen["before"]


TRIMMED = """
import re
from pathlib import Path
from engine.storage import allocator

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10

held = [bytes([n % 256]) * 10_000 for n in range(10_000)]
del held[:-1]
freed = resident()
allocator.trim()
print(freed - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has no such call")
def test_what_is_free_below_something_that_is_not_is_given_back() -> None:
    ran = subprocess.run([sys.executable, "-c", TRIMMED], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 60


@pytest.mark.parametrize(
    "statement",
    ["SET memory_limit = '2GB'", "SET enable_external_access = true", "SET allowed_configs = ['memory_limit']"],
)
def test_no_other_setting_can_be_changed(tmp_path: Path, statement: str) -> None:
    database = connect(tmp_path / "a.duckdb", threads=1, memory_limit="100MB")
    with pytest.raises(StorageError), database.reader() as cursor:
        cursor.execute(statement)
    database.close()


FAILED_OPEN = """
import os, sys
from pathlib import Path
from engine.errors import QuarryError
from engine.storage.connection import connect

folder = Path(sys.argv[1])
(folder / "damaged.duckdb").write_bytes(b"no database" * 1_000)
first = connect(folder / "a.duckdb", threads=1, memory_limit="100MB")
before = len(os.listdir("/proc/self/task"))
try:
    connect(folder / "damaged.duckdb", threads=1, memory_limit="100MB")
except QuarryError:
    print(len(os.listdir("/proc/self/task")) - before)
first.close()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_the_allocators_thread_outlives_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", FAILED_OPEN, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0"]
