"""Sentences × asked terms: how far each sentence holds each term, in [0, 1]. Every offline step is a reduction of it.

A term counts 1 where it stands as it is, `FORM` where a word stands that shares its stem by all that can be seen (a
long common beginning, or a compound that holds it whole), and at most `MOST` where a word of like meaning stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from engine.agent.evidence.analysed import Analysed, Spans, analysed, terms_of
from engine.agent.evidence.likeness import Likeness
from engine.analysis.language import DEFAULT_LANGUAGE
from engine.analysis.scripts import is_spelled
from engine.model.document import Passage
from engine.question.terms import AskedTerm, AskedTerms, identifiers_in

HEADER = 1.0
"""What a term counts beside a sentence that only its header holds."""
FORM = 0.7
"""What another form of a word counts."""
BEGINNING = 0.65
"""Share of the longer word that two forms of one word begin with alike."""
RUN = 4
"""Letters in a row of a script without spaces that count; see `_runs`."""
_STEM = 4
"""Letters that two forms share at least; a whole word inside a compound has one more."""

Credits = npt.NDArray[np.float32]


class Table:
    """What passages hold of asked terms.

    Attributes:
        told: the short attributes of the passages' documents; empty where none were given.
        of: the passage of each sentence, shape ``(sentences,)``.
        own: credits of the sentences by themselves, ``(sentences, terms)``.
        header: credits of the passages' headers, ``(passages, terms)``.
        above: credits of the heading above each sentence, ``(sentences, terms)``.
        attributes: the same of their documents' ids and short attributes, names and values.
        weights, nats: of the terms, ``(terms,)``; see `AskedTerm`.
    """

    def __init__(
        self,
        asked: AskedTerms,
        passages: Sequence[Passage],
        attributes: Sequence[Mapping[str, object]] = (),
        likeness: Likeness | None = None,
        spans: Sequence[Spans] | None = None,
    ) -> None:
        self.asked = asked
        self.told = attributes
        self.passages = passages
        self.weights = np.asarray([term.weight for term in asked.terms], np.float32)
        self.nats = np.asarray([term.nats for term in asked.terms], np.float32)
        self._read = [
            analysed(p.header, p.text, asked.languages, spans[number] if spans else None)
            for number, p in enumerate(passages)
        ]
        self._runs = _runs(asked.terms)
        values = attributes or [dict[str, object]()] * len(passages)
        held = [
            terms_of(_told(one), asked.languages).union(identifiers_in(passage.document_id))
            for one, passage in zip(values, passages, strict=True)
        ]
        words = frozenset[str]().union(*held, *(_all(one) for one in self._read))
        credit = _credit_by_word(asked, words, likeness)
        self.of = np.repeat(np.arange(len(passages)), [len(one.sentences) for one in self._read])
        self.own = self._credits([s for one in self._read for s in one.sentences], credit)
        self.header = self._credits([one.header for one in self._read], credit)
        self.above = self._credits([s for one in self._read for s in one.above], credit)
        self.attributes = self._credits(held, credit)

    @cached_property
    def sentences(self) -> Credits:
        """Credits of each sentence together with what stands above it, ``(sentences, terms)``."""
        return np.maximum(self.own, HEADER * np.maximum(self.above, self.header[self.of]))

    @cached_property
    def wholes(self) -> Credits:
        """Credits of each passage with its header and attributes, ``(passages, terms)``."""
        out = np.maximum(self.header, self.attributes)
        np.maximum.at(out, self.of, self.own)
        return out

    def joined(self, documents: Collection[str]) -> Credits:
        """What documents hold together: by the best passage of each, and by its best sentence, ``(2, terms)``."""
        rows = np.zeros((2, len(self.asked.terms)), np.float32)
        places = [n for n, passage in enumerate(self.passages) if passage.document_id in documents]
        for document in {self.passages[n].document_id for n in places}:
            own = [n for n in places if self.passages[n].document_id == document]
            rows[0] = np.maximum(rows[0], self.wholes[max(own, key=lambda n: float(self.wholes[n] @ self.weights))])
            read = [self.sentences[self.rows(n)] for n in own]
            sentences = np.concatenate(read) if read else rows[:0]
            if len(sentences):
                rows[1] = np.maximum(rows[1], sentences[int((sentences @ self.weights).argmax())])
        return rows

    def sentence(self, row: int) -> str:
        """The text of a sentence."""
        passage = int(self.of[row])
        start, end = self._read[passage].spans[row - int(np.searchsorted(self.of, passage))]
        return self.passages[passage].text[start:end]

    def rows(self, passage: int) -> slice:
        """The sentences of a passage."""
        first, end = np.searchsorted(self.of, [passage, passage + 1])
        return slice(int(first), int(end))

    def _credits(self, texts: Sequence[frozenset[str]], credit: Mapping[str, Credits]) -> Credits:
        out = np.zeros((len(texts), len(self.asked.terms)), np.float32)
        known = credit.keys()
        for row, text in zip(out, texts, strict=True):
            for word in known & text:
                np.maximum(row, credit[word], out=row)
        if self._runs:
            for row, text in zip(out, texts, strict=True):
                row[[n for n, runs in self._runs.items() if not any(run <= text for run in runs)]] = 0.0
        return _smoothed(out, self.asked.terms)


def _credit_by_word(asked: AskedTerms, words: frozenset[str], likeness: Likeness | None) -> dict[str, Credits]:
    """Word of the passages → its credit for each asked term; only words that have any."""
    out: dict[str, Credits] = {}
    for word, numbers in _other_forms(asked.terms, words):
        out[word] = np.zeros(len(asked.terms), np.float32)
        out[word][numbers] = FORM
    if likeness is not None and asked.code == DEFAULT_LANGUAGE:
        for word, row in likeness.credits([term.word for term in asked.terms], words).items():
            out[word] = np.maximum(out[word], row) if word in out else row
    for number, term in enumerate(asked.terms):
        for form in term.forms & words:
            out.setdefault(form, np.zeros(len(asked.terms), np.float32))[number] = 1.0
    return out


def _other_forms(asked: Sequence[AskedTerm], words: frozenset[str]) -> Iterator[tuple[str, list[int]]]:
    """Words of the passages that are another form of asked terms, with the numbers of those."""
    begins: dict[str, list[tuple[int, str]]] = {}
    ends: dict[str, list[tuple[int, str]]] = {}
    for number, term in enumerate(asked):
        for form in term.forms:
            if len(form) >= _STEM and form.isalpha() and not term.is_pair:
                begins.setdefault(form[:_STEM], []).append((number, form))
                ends.setdefault(form[-_STEM:], []).append((number, form))
    none: list[tuple[int, str]] = []
    for word in words:
        first, last = begins.get(word[:_STEM], none), ends.get(word[-_STEM:], none)
        if first or last:
            numbers = [number for number, form in first if begins_alike(form, word)]
            numbers += [number for number, form in last if ends_alike(form, word)]
            if numbers:
                yield word, numbers


def ends_alike(a: str, b: str) -> bool:
    """Whether one word ends with the other, as a compound with its head.

    >>> ends_alike("vertrag", "mietvertrag"), ends_alike("rat", "vorrat")
    (True, False)
    """
    return min(len(a), len(b)) > _STEM and (a.endswith(b) or b.endswith(a))


def begins_alike(a: str, b: str) -> bool:
    """Whether two words are forms of one, or one begins with the other.

    >>> begins_alike("kirchen", "kirche"), begins_alike("haus", "hausmeister"), begins_alike("contract", "control")
    (True, False, False)
    """
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= BEGINNING * max(len(a), len(b)) or (shared > _STEM and shared == min(len(a), len(b)))


def _runs(terms: Sequence[AskedTerm]) -> dict[int, list[frozenset[str]]]:
    """Pair of letters → the runs of the question that it stands in, one of which must stand in a text for it to count.

    Two letters in a row stand in every long text by chance; `RUN` of them make a word.
    """
    triples = [
        (a.word + b.word[-1])
        if b.follows and a.is_pair and a.word[-1] == b.word[0] and is_spelled(a.word + b.word)
        else ""
        for a, b in pairwise(terms)
    ]
    found: dict[int, list[frozenset[str]]] = {}
    for number, term in enumerate(terms):
        if not term.is_pair or not is_spelled(term.word):
            continue
        first = last = number
        while first > 0 and triples[first - 1]:
            first -= 1
        while last < len(terms) - 1 and triples[last]:
            last += 1
        size = min(RUN - 2, last - first)
        starts = range(max(first, number - size), min(number, last - size) + 1)
        found[number] = [frozenset(triples[start : start + size]) for start in starts]
    return found


def _smoothed(held: Credits, terms: Sequence[AskedTerm]) -> Credits:
    """Pairs of characters that no text could hold count by their characters.

    A pair across two words of the question ("猫吃" of 黑猫吃鱼) stands in no answer; it is covered as far as the pairs
    beside it are.
    """
    if not any(term.follows for term in terms):
        return held
    joined = np.asarray([term.follows for term in terms[1:]])
    half = 0.5 * (held > 0)
    beside = np.zeros_like(held)
    beside[:, 1:] += np.where(joined, half[:, :-1], 0.0)
    beside[:, :-1] += np.where(joined, half[:, 1:], 0.0)
    return np.maximum(held, beside).astype(np.float32)


def _told(attributes: Mapping[str, object]) -> str:
    """Names and values: "released" stands in the name."""
    return " ".join(f"{name.replace('_', ' ')} {value}" for name, value in attributes.items())


def _all(read: Analysed) -> frozenset[str]:
    return read.header.union(*read.sentences)
