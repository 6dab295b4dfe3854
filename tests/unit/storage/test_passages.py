"""Vectors of passages: half precision, and what earlier versions stored."""

from __future__ import annotations

import numpy as np

from engine.storage.connection import Database
from engine.storage.migrate import migrate, shipped
from engine.storage.passages import STORED_VECTORS, PassageRow, as_stored, insert_passages, vectors_between
from tests.contracts.vector_index import unit


def test_rows_of_both_precisions_are_read_together(database: Database) -> None:
    migrate(database, shipped("namespace"))
    vectors = unit(3, 4, 8)
    stored = [vector.astype("<f4" if n % 2 else STORED_VECTORS).tobytes() for n, vector in enumerate(vectors)]
    with database.transaction() as cursor:
        insert_passages(cursor, [PassageRow(n, n, "d", "body", 0, 1, "x", "", v) for n, v in enumerate(stored)])
    with database.reader() as cursor:
        ((labels, rows),) = list(vectors_between(cursor, 0, 4, 8))
    assert labels.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(rows[1::2], vectors[1::2])
    np.testing.assert_array_equal(rows[::2], as_stored(vectors)[::2])


def test_what_is_stored_is_near_what_was_given_and_is_stored_again_unchanged() -> None:
    vectors = unit(4, 100, 256)
    kept = as_stored(vectors)
    np.testing.assert_allclose(kept @ vectors[0], vectors @ vectors[0], atol=1e-4)
    np.testing.assert_array_equal(as_stored(kept), kept)
