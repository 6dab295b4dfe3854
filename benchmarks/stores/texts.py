"""What is stored and asked: texts drawn at random, or passages of the collections of `benchmarks.data`.

Random texts have hardly any neighbours, which is the hardest there is for a graph over vectors; what people store has.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Protocol

import numpy as np

from benchmarks.data import SCHEMAS, data_folder, present_collections
from benchmarks.speed import Texts

SHORT = {"squad_dev", "hotpotqa_sample"}
"""Collections of short documents, from which passages are cut more densely."""


class Source(Protocol):
    def __init__(self, seed: int) -> None: ...

    def documents(self, count: int, length: int) -> Iterator[dict[str, object]]:
        """Documents of about `length` words with ``title``, ``body`` and ``thousandth``."""
        ...

    def question(self) -> str: ...


class Collections:
    """Passages that begin every few words of the documents, in random order, and the collections' questions."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._collections = list(present_collections(SCHEMAS, data_folder(None)))
        asked = [question.text for each in self._collections for question in each.questions()]
        self._questions = cycle([asked[place] for place in self._rng.permutation(len(asked))])

    def documents(self, count: int, length: int) -> Iterator[dict[str, object]]:
        passages: list[tuple[str, str]] = []
        for collection in self._collections:
            step = 8 if collection.name in SHORT else 20
            for document in collection.documents():
                words = str(document["body"]).split()
                starts = range(0, max(1, len(words) - length // 2), step)
                passages += [(str(document["title"]), " ".join(words[start : start + length])) for start in starts]
        if len(passages) < count:
            raise SystemExit(f"The collections give {len(passages):,} passages of {length} words.")
        for number, place in enumerate(self._rng.permutation(len(passages))[:count].tolist()):
            title, body = passages[place]
            yield {"id": f"d{number}", "title": title, "body": body, "thousandth": number % 1000}

    def question(self) -> str:
        return next(self._questions)


SOURCES: dict[str, type[Source]] = {"random": Texts, "collections": Collections}
