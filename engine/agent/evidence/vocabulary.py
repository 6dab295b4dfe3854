"""The words that passages were read with, by number, so that a table of evidence is gathered from arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

STEM = 4
"""Letters that two forms of a word share at least; a whole word inside a compound has one more."""
MOST_WORDS = 250_000
"""Words of one vocabulary, some 40 MB; beyond, another one begins, and what was read by the old one is read anew."""
_NONE = -1

Numbers: TypeAlias = npt.NDArray[np.int32]


class Vocabulary:
    """Numbers words as they come; a number never changes. Thread-safe.

    Attributes:
        words: by number.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self._begins = np.full(4_096, _NONE, np.int32)
        self._ends = np.full(4_096, _NONE, np.int32)

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int | None:
        """Of a word that is known."""
        return self._numbers.get(word)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Of each word; new ones get theirs."""
        known = self._numbers
        given = list(words)
        found = [known.get(word, _NONE) for word in given]
        if _NONE in found:
            with self._lock:
                found = [
                    self._add(word) if number == _NONE else number for word, number in zip(given, found, strict=True)
                ]
        return found

    def beginning_with(self, form: str, among: Numbers) -> list[int]:
        """Of `among`, the words whose first letters are those of `form`."""
        return self._sharing(self._begins, form[:STEM], among)

    def ending_with(self, form: str, among: Numbers) -> list[int]:
        """Of `among`, the words whose last letters are those of `form`."""
        return self._sharing(self._ends, form[-STEM:], among)

    def _sharing(self, held: Numbers, part: str, among: Numbers) -> list[int]:
        number = self._parts.get(part)
        return [] if number is None else among[held[among] == number].tolist()

    def _add(self, word: str) -> int:
        number = len(self.words)
        if number == len(self._begins):
            # Readers keep the array that they took; it holds all words that they can ask for.
            more = np.full(number, _NONE, np.int32)
            self._begins, self._ends = np.concatenate([self._begins, more]), np.concatenate([self._ends, more])
        if len(word) >= STEM:
            self._begins[number] = self._parts.setdefault(word[:STEM], len(self._parts))
            self._ends[number] = self._parts.setdefault(word[-STEM:], len(self._parts))
        self.words.append(word)
        self._numbers[word] = number
        return number


_current = Vocabulary()


def current() -> Vocabulary:
    """The one that passages are read with now."""
    global _current  # noqa: PLW0603 - one a process, as the caches that it serves
    if len(_current) >= MOST_WORDS:
        _current = Vocabulary()
    return _current
