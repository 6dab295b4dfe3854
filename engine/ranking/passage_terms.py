"""The terms of passages as arrays: what rerankers read, from a forward index or from texts with the same result."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from engine.analysis.analyzer import language_of
from engine.analysis.term_ids import TermIds, append_text_ids
from engine.model.document import Passage
from engine.model.hits import Labels
from engine.text.headers import split_header, without_qualifier

Indices: TypeAlias = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

_TEXTS_KEPT = 4_096


class TermTexts(NamedTuple):
    """Texts as the numbers of their terms, one text after the other.

    Attributes:
        terms: shape ``(sum of lengths,)``, in the order of the text.
        lengths: shape ``(texts,)``.
    """

    terms: TermIds
    lengths: Indices

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> TermTexts:
        """From lists of numbers."""
        flat = [term for text in texts for term in text]
        return cls(np.array(flat, np.uint32), np.fromiter(map(len, texts), np.int64, len(texts)))

    @classmethod
    def joined(cls, parts: Sequence[TermTexts]) -> TermTexts:
        """The texts of all `parts`, in order."""
        return cls(np.concatenate([part.terms for part in parts]), np.concatenate([part.lengths for part in parts]))

    @property
    def starts(self) -> Indices:
        return np.cumsum(self.lengths) - self.lengths

    def take(self, texts: Indices) -> TermTexts:
        """Those at `texts`, in that order."""
        return TermTexts(spans_of(self.terms, self.starts[texts], self.lengths[texts]), self.lengths[texts])


_LOW_HALF = np.uint32(0xFFFF)


def places_of_any(wanted: TermIds, terms: TermIds) -> Indices:
    """Where `terms` may hold one of `wanted`: all places that do, and one in some thousands of the others.

    Most words of a text are none of a question's; a table over the lower half of a number leaves these out at once.
    """
    table = np.zeros(_LOW_HALF + 1, np.bool_)
    table[wanted & _LOW_HALF] = True
    return table[terms & _LOW_HALF].nonzero()[0]


def spans_of(values: npt.NDArray[Scalar], starts: Indices, lengths: Indices) -> npt.NDArray[Scalar]:
    """``values[start : start + length]`` of each pair, one after the other.

    >>> spans_of(np.arange(9, dtype=np.uint32), np.array([6, 1]), np.array([2, 3])).tolist()
    [6, 7, 1, 2, 3]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return values[np.arange(total) + np.repeat(starts - (ends - lengths), lengths)]


def document_numbers(documents: Sequence[str]) -> Indices:
    """A number for each: equal for equal documents, from 0 in order of first occurrence.

    >>> document_numbers(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.fromiter((numbers.setdefault(document, len(numbers)) for document in documents), np.int64, len(documents))


@dataclass(frozen=True)
class PassageTerms:
    """What rerankers know of some passages.

    Attributes:
        labels: shape ``(n,)``.
        documents: id of the document of each.
        bodies: terms of each text.
        headers: terms of each header.
        names: what documents may be called, as their headers say.
        named: shape ``(len(names.lengths),)``: the passage whose document each name is of, ascending.
        passages: the passages themselves where they had to be read for this; else empty.
    """

    labels: Labels
    documents: tuple[str, ...]
    bodies: TermTexts
    headers: TermTexts
    names: TermTexts
    named: Indices
    passages: tuple[Passage, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def document_numbers(self) -> Indices:
        """The document of each passage as a number: shape ``(n,)``, from 0 in order of first occurrence."""
        return document_numbers(self.documents)

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> PassageTerms:
        """By analysing their texts: the slow twin of a forward index."""
        terms, lengths, headers = array("I"), list[int](), list[HeaderTerms]()
        for passage in passages:
            language, body = _analysed(passage.text)
            terms.extend(body)
            lengths.append(len(body))
            headers.append(header_terms(passage.header, language))
        names = [header.terms[start : start + length] for header in headers for start, length in header.names]
        return cls(
            np.fromiter((passage.label for passage in passages), np.int64, len(passages)),
            tuple(passage.document_id for passage in passages),
            TermTexts(np.array(terms, np.uint32), np.array(lengths, np.int64)),
            TermTexts.of([header.terms for header in headers]),
            TermTexts.of(names),
            np.array([at for at, header in enumerate(headers) for _ in header.names], np.int64),
            tuple(passages),
        )


class HeaderTerms(NamedTuple):
    """Terms of a header, and which of them make a name: ``(start, length)`` of each, none empty."""

    terms: tuple[int, ...]
    names: tuple[tuple[int, int], ...]


@lru_cache(maxsize=_TEXTS_KEPT)
def header_terms(header: str, language: str) -> HeaderTerms:
    """The terms of a header beside a text of `language`, and its names."""
    terms = array("I")
    names = append_header_ids(header, language, terms)
    return HeaderTerms(tuple(terms), tuple(names))


def append_header_ids(header: str, language: str, out: array[int]) -> list[tuple[int, int]]:
    """Append the terms of a header to `out`; where its names stand among them. A name is a title less its qualifier."""
    before = len(out)
    names: list[tuple[int, int]] = []
    for title in split_header(header):
        name = without_qualifier(title)
        start = len(out) - before
        if length := append_text_ids(name, language, out):
            names.append((start, length))
        if len(name) < len(title):
            append_text_ids(title[len(name) :], language, out)
    return names


@lru_cache(maxsize=_TEXTS_KEPT)
def _analysed(text: str) -> tuple[str, array[int]]:
    """The language of a text and its terms: the queries of one search bring up the same passages."""
    language, terms = language_of(text), array("I")
    append_text_ids(text, language, terms)
    return language, terms
