"""Faults at every line of some modules: something happens when the n-th of them is about to run."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType, ModuleType
from typing import Any


@cache
def _ends_of_blocks(code: CodeType) -> frozenset[int]:
    """Where lines of `code` begin that leave a ``with`` block: they call what the block was entered with."""
    instructions = list(dis.get_instructions(code))
    found: set[int] = set()
    for n, held in enumerate(instructions):
        if held.starts_line is None:
            continue
        following = [
            i for i in instructions[n : n + 8] if i.opname not in ("SWAP", "NOP", "PUSH_EXC_INFO", "POP_BLOCK")
        ]
        is_normal = len(following) > 2 and all(i.opname == "LOAD_CONST" and i.argval is None for i in following[:3])
        if is_normal or (following[:1] and following[0].opname == "WITH_EXCEPT_START"):
            found.add(held.offset)
    return frozenset(found)


@contextmanager
def each_line(modules: list[ModuleType], act: Callable[[str, int], None]) -> Generator[None]:
    """Call ``act(function, line)`` before each line of `modules` that this thread runs within the block.

    What `act` raises is raised at that line. The end of a ``with`` block is left out: Python counts it as the line of
    the ``with``, and what is raised there keeps a lock from being released, which no failing statement does.
    """
    files = {module.__file__ for module in modules}
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line" and frame.f_lasti not in _ends_of_blocks(frame.f_code):
            sys.settrace(None)
            try:
                act(frame.f_code.co_name, frame.f_lineno)
            finally:
                sys.settrace(trace)
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
