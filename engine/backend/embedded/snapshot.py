"""What one search reads of a namespace: both indexes and the live labels at one journal sequence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from engine.lexical.index import LexicalReader
from engine.model.document import JsonValue
from engine.model.hits import Labels
from engine.vector.protocol import VectorReader

FILTER_BYTES = 16 * 2**20
"""Of allowed sets remembered a snapshot, at most, one that is larger alone excepted: a search repeats the caller's
filter for each of its queries, and questions name the same sources again."""

_SET_BYTES = 8_192
"""That a remembered set counts besides its labels, so that there are some hundreds of them at most."""

VALUES_KEPT = 300
"""Value lists remembered a snapshot: those of a full schema, and some under filters."""
ValueCounts: TypeAlias = list[tuple[JsonValue, int]]


@dataclass(frozen=True)
class Snapshot:
    """Never changes; a write publishes the next one.

    Attributes:
        seq: journal sequence that it shows.
        labels: every live label, strictly increasing.
        keys: document key of each label, never decreasing.
    """

    seq: int
    labels: Labels
    keys: npt.NDArray[np.int64]
    lexical: LexicalReader
    vectors: VectorReader
    allowed_sets: dict[Hashable, Labels] = field(default_factory=dict[Hashable, Labels], repr=False)
    value_sets: dict[Hashable, ValueCounts] = field(default_factory=dict[Hashable, ValueCounts], repr=False)

    def labels_of(self, keys: npt.NDArray[np.int64]) -> Labels:
        """Labels of the passages of documents `keys`, strictly increasing; unknown keys are ignored."""
        if len(self.labels) == 0 or len(keys) == 0:
            return np.empty(0, np.int64)
        low, high = int(self.keys[0]), int(self.keys[-1])
        inside = keys[(keys >= low) & (keys <= high)]
        # A table over the key range answers membership in one gather, far below a sort of either side.
        member = np.zeros(high - low + 1, dtype=np.bool_)
        member[inside - low] = True
        return self.labels[member[self.keys - low]]

    def remember(self, predicate: Hashable, allowed: Labels) -> None:
        """Keep the labels that a predicate allows for the next query of this snapshot."""
        held = list(self.allowed_sets.values())
        if sum(known.nbytes + _SET_BYTES for known in held) + allowed.nbytes > FILTER_BYTES:
            self.allowed_sets.clear()
        self.allowed_sets[predicate] = allowed

    def remember_values(self, asked: Hashable, found: ValueCounts) -> None:
        """Keep the values of an attribute, which every plan asks for."""
        if len(self.value_sets) >= VALUES_KEPT:
            self.value_sets.clear()
        self.value_sets[asked] = found


def without(labels: Labels, keys: npt.NDArray[np.int64], removed: Labels) -> tuple[Labels, npt.NDArray[np.int64]]:
    """Labels and keys less those `removed` (ascending)."""
    if len(removed) == 0:
        return labels, keys
    keep = ~np.isin(labels, removed, assume_unique=True, kind="sort")
    return labels[keep], keys[keep]
