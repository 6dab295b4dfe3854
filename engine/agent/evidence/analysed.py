"""A passage as sets of terms, remembered, since searches of one collection meet the same passages."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TypeAlias

import msgspec

from engine.agent.evidence.headings import headings
from engine.analysis.analyzer import query_terms
from engine.analysis.scripts import spelled_triples
from engine.question.terms import identifiers_in
from engine.text.passages import blocks

_KEPT = 2_048
Terms: TypeAlias = frozenset[str]
Spans: TypeAlias = tuple[tuple[int, int], ...]


class Analysed(msgspec.Struct, frozen=True):
    """The terms of a passage.

    Attributes:
        sentences: one set a block, in reading order; `spans` is where they stand.
        above: of each, the terms of the last heading or question before it, which is what it speaks of.
    """

    header: Terms
    sentences: tuple[Terms, ...]
    above: tuple[Terms, ...]
    spans: Spans


@lru_cache(maxsize=_KEPT)
def analysed(header: str, text: str, languages: tuple[str, ...], spans: Spans | None = None) -> Analysed:
    """The terms of a passage, read in `languages`.

    Args:
        spans: where its sentences stand; None for its blocks.
    """
    if spans is None:
        spans = tuple((span.start, span.end) for span in blocks(text))
    read = tuple(_terms(text[start:end], languages) for start, end in spans)
    above: list[Terms] = []
    last: Terms = frozenset()
    for start, end in spans:
        above.append(last)
        for first, stop in headings(text[start:end], text[end : end + 2])[-1:]:
            last = _terms(text[start + first : start + stop], languages)
    return Analysed(terms_of(header, languages), read, tuple(above), spans)


@lru_cache(maxsize=_KEPT)
def terms_of(text: str, languages: tuple[str, ...]) -> Terms:
    """The terms of a text, and its whole identifiers."""
    return _terms(text, languages)


def _terms(text: str, languages: tuple[str, ...]) -> Terms:
    return frozenset(map(sys.intern, (*query_terms(text, languages), *identifiers_in(text), *spelled_triples(text))))
