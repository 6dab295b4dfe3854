"""What the C library and Python's collector are told once, so that a server's memory stays where its work needs it."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Generator
from contextlib import contextmanager

ARENAS = 2
_M_ARENA_MAX = -8


def limit_arenas() -> bool:
    """Have malloc keep few arenas; False where it is not glibc's. Call it before threads are started.

    By default there are eight for each core. What one thread frees serves only threads of the same arena, so that
    requests wandering over a server's threads leave free memory behind in each.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return mallopt(_M_ARENA_MAX, ARENAS) == 1


@contextmanager
def settled() -> Generator[None]:
    """Within the block, collections leave out what exists now: modules and models, which live to the end.

    Afterwards they count again, for extensions complain on standard error of what is left when the process ends.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
