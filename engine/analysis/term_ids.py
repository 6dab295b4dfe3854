"""Terms as 32-bit numbers that never change: the CRC-32 of a term's UTF-8, so that files and processes agree.

Two terms of 300,000 share a number about ten times in all, and then one passage in a great many ranks a little too
high: nothing but rankers reads these numbers. Near words never share one: CRC-32 tells apart all that differ within
four successive bytes.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from engine.analysis.analyzer import DEFAULT_LANGUAGE, indexable, text_analyzer
from engine.analysis.tokenizer import TextAnalyzer, make_splitter

TermIds: TypeAlias = npt.NDArray[np.uint32]

WORDS_KEPT = 300_000
"""Words whose term is remembered, some 30 MB; when more were seen it begins anew."""


def term_ids(terms: Sequence[str]) -> TermIds:
    """The number of each term as the index holds it.

    >>> term_ids(["ferry"]).tolist()
    [3205307411]
    """
    return np.fromiter((_number(term) for term in terms), np.uint32, len(terms))


def append_text_ids(text: str, language: str, out: array[int]) -> int:
    """Append the numbers of the terms of `text`, in order, to `out` (of type ``I``); how many.

    They are the terms that the index holds. A word is stemmed once a process: looking it up takes a tenth of that.

    Args:
        language: a key of `engine.analysis.analyzer.STEMMERS`.
    """
    # Words of another language come as its stems, for the table of words does not know of languages.
    words = _splitter().analyze(indexable(text, language))
    before = len(out)
    out.extend(map(_words.__getitem__, words))
    return len(out) - before


def _number(term: str) -> int:
    return zlib.crc32(term.encode())


class _Words(dict[str, int]):
    """Word → number of its term. A race of two threads looks one up twice, nothing worse."""

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS_KEPT:
            self.clear()
        stems = text_analyzer(DEFAULT_LANGUAGE).analyze(word)
        found = self[word] = _number(stems[0] if stems else word)
        return found


_words = _Words()


@cache
def _splitter() -> TextAnalyzer:
    return make_splitter()
