"""Small products of matrices, kept on the thread that asks for them.

Beyond some size the library behind numpy shares a product out among threads of its own, and waits for them. Where all
cores are busy, as in a server under load, that wait takes milliseconds of both for what one thread does in a tenth of
one.
"""

from __future__ import annotations

import numpy as np

from engine.model.hits import Vectors

ALONE = 2**18
"""Multiplications up to which OpenBLAS uses one thread (its interface/gemm.c)."""
LARGE = 2**26
"""Multiplications from which sharing pays whatever else runs: that of uploads, some 1,000 rows."""
WIDE = 64
"""Columns of a piece; wide ones leave room for few rows."""


def product(rows: Vectors, columns: Vectors) -> Vectors:
    """``rows @ columns``, computed in pieces that one thread does alone unless it is large."""
    count, depth = rows.shape
    width = columns.shape[1]
    if not ALONE < count * depth * width < LARGE:
        return rows @ columns
    out = np.empty((count, width), np.float32)
    step = max(1, ALONE // (depth * min(width, WIDE)))
    for left in range(0, width, WIDE):
        part = columns[:, left : left + WIDE]
        for top in range(0, count, step):
            np.matmul(rows[top : top + step], part, out=out[top : top + step, left : left + WIDE])
    return out
