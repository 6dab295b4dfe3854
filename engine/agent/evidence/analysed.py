"""A passage as numbers of its words, remembered, since searches of one collection meet the same passages."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec
import numpy as np

from engine.agent.evidence.headings import headings
from engine.agent.evidence.vocabulary import Numbers, Vocabulary
from engine.analysis.analyzer import query_terms, query_terms_of_each
from engine.analysis.scripts import spelled_triples
from engine.question.terms import identifiers_in
from engine.text.passages import blocks

_KEPT = 8_192
"""Passages, of about 2 KB each with the text that they are found by."""
_TEXTS_KEPT = 2_048
_MAY_STAND_ABOVE = re.compile(r"[?？؟;՞#\n]")
"""Without one of these no heading and no question ends."""
Terms: TypeAlias = frozenset[str]
Spans: TypeAlias = tuple[tuple[int, int], ...]


class Analysed(msgspec.Struct, frozen=True):
    """The words of a passage, by number.

    Attributes:
        header: each word once.
        words: those of the sentences, one after the other, in reading order; `counts` says how many each has.
        above: of each sentence, the words of the last heading or question before it, which is what it speaks of; as
            `words`, by `above_counts`.
        spans: where the sentences stand.
    """

    header: Numbers
    words: Numbers
    counts: Numbers
    above: Numbers
    above_counts: Numbers
    spans: Spans


@lru_cache(maxsize=_KEPT)
def analysed(vocabulary: Vocabulary, header: str, text: str, languages: tuple[str, ...], spans: Spans) -> Analysed:
    """The words of a passage, read in `languages`.

    Args:
        spans: where its sentences stand.
    """
    read = _each(vocabulary, [text[start:end] for start, end in spans], languages)
    above: list[list[int]] = []
    last: list[int] = []
    for start, end in spans:
        above.append(last)
        if _MAY_STAND_ABOVE.search(text, start, end + 2):
            for first, stop in headings(text[start:end], text[end : end + 4])[-1:]:
                last = _each(vocabulary, [text[start + first : start + stop]], languages)[0]
    return Analysed(
        words_of(vocabulary, header, languages), _joined(read), _counts(read), _joined(above), _counts(above), spans
    )


@lru_cache(maxsize=_KEPT)
def spans_of(text: str) -> Spans:
    """Where the blocks of a passage stand."""
    return tuple((span.start, span.end) for span in blocks(text))


@lru_cache(maxsize=_KEPT)
def words_of(vocabulary: Vocabulary, text: str, languages: tuple[str, ...]) -> Numbers:
    """The words of a text, each once."""
    return _joined(_each(vocabulary, [text], languages))


@lru_cache(maxsize=_TEXTS_KEPT)
def terms_of(text: str, languages: tuple[str, ...]) -> Terms:
    """The terms of a text, and its whole identifiers."""
    return frozenset(map(sys.intern, (*query_terms(text, languages), *identifiers_in(text), *spelled_triples(text))))


def _each(vocabulary: Vocabulary, texts: Sequence[str], languages: tuple[str, ...]) -> list[list[int]]:
    """The words of each text, each once, and its whole identifiers."""
    return [
        vocabulary.numbers(dict.fromkeys((*terms, *identifiers_in(text), *spelled_triples(text))))
        for text, terms in zip(texts, query_terms_of_each(texts, languages), strict=True)
    ]


def _joined(numbers: Sequence[Sequence[int]]) -> Numbers:
    return np.asarray([number for one in numbers for number in one], np.int32)


def _counts(numbers: Sequence[Sequence[int]]) -> Numbers:
    return np.asarray([len(one) for one in numbers], np.int32)
