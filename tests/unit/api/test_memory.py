"""What the process is told about memory, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
COUNT_ARENAS = """
import ctypes, re, sys, tempfile, threading
from api.memory import ARENAS, limit_arenas
if sys.argv[1] == "limited" and not limit_arenas():
    raise SystemExit("not glibc")
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.fopen.restype = ctypes.c_void_p
together = threading.Barrier(8)
def work():
    together.wait()
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile("r") as report:
    file = libc.fopen(report.name.encode(), b"w")
    libc.malloc_info(0, ctypes.c_void_p(file))
    libc.fclose(ctypes.c_void_p(file))
    print(len(re.findall("<heap nr", report.read())), ARENAS)
"""


def run(script: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if "not glibc" in ran.stderr:
        pytest.skip("the C library is not glibc")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_eight_threads_share_the_arenas_that_there_are() -> None:
    limited, most = map(int, run(COUNT_ARENAS, "limited").split())
    free, _ = map(int, run(COUNT_ARENAS, "free").split())
    assert limited <= most < free


def test_what_exists_at_the_start_is_left_out_of_collections_and_what_comes_later_is_not() -> None:
    script = """
import gc, weakref
from api.memory import settled
before = gc.get_freeze_count()
with settled():
    assert gc.get_freeze_count() > before + 1_000
    class Later:
        def __init__(self): self.me = self
    later = weakref.ref(Later())
    gc.collect()
    assert later() is None
assert gc.get_freeze_count() <= before
"""
    run(script)
