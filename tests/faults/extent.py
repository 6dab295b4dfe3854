"""How much of the fault tests runs: little with every test run, all or a share with ``make faults``."""

from __future__ import annotations

import os

SHARE = float(os.getenv("QUARRY_FAULTS", "0")) / 100
"""Of the long form; 0 is the short one."""
LONG = SHARE > 0


def runs(short: int, long: int) -> int:
    """How often a fault is tried."""
    return max(short, round(long * SHARE))
