"""How much of the fault tests runs: a part with every test run, all of it under ``make faults``."""

from __future__ import annotations

import os

LONG = os.getenv("QUARRY_FAULTS") == "long"


def runs(short: int, long: int) -> int:
    """How often a fault is tried."""
    return long if LONG else short
