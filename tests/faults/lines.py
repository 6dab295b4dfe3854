"""Faults at every line of some modules: something happens when the n-th of them is about to run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any


@contextmanager
def each_line(modules: list[ModuleType], act: Callable[[str, int], None]) -> Generator[None]:
    """Call ``act(function, line)`` before each line of `modules` that this thread runs within the block.

    What `act` raises is raised at that line.
    """
    files = {module.__file__ for module in modules}
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
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
