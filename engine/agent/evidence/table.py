"""Sentences × asked terms: how far each sentence holds each term, in [0, 1]. Every offline step is a reduction of it.

A term counts 1 where it stands as it is, `FORM` where a word stands that shares its stem by all that can be seen (a
long common beginning, or a compound that holds it whole), and at most `MOST` where a word of like meaning stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from engine.agent.evidence.analysed import Spans, analysed, spans_of, words_of
from engine.agent.evidence.likeness import Likeness
from engine.agent.evidence.vocabulary import STEM, Numbers, Vocabulary, current
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
        vocabulary = current()
        self._read = [
            analysed(vocabulary, p.header, p.text, asked.languages, spans[number] if spans else spans_of(p.text))
            for number, p in enumerate(passages)
        ]
        values = attributes or [dict[str, object]()] * len(passages)
        held = [
            np.append(
                words_of(vocabulary, _told(one), asked.languages),
                np.asarray(vocabulary.numbers(identifiers_in(passage.document_id)), np.int32),
            )
            for one, passage in zip(values, passages, strict=True)
        ]
        own = _joined([one.words for one in self._read])
        headers = _joined([one.header for one in self._read])
        above = _joined([one.above for one in self._read])
        of_documents = _joined(held)
        credit = _Credit(asked, vocabulary, (own, headers, of_documents), likeness)
        counts = [len(one.counts) for one in self._read]
        self.of = np.repeat(np.arange(len(passages)), counts)
        self._starts = [0, *accumulate(counts)]
        self.own = credit.rows(own, _joined([one.counts for one in self._read]))
        self.header = credit.rows(headers, _lengths([one.header for one in self._read]))
        self.above = credit.rows(above, _joined([one.above_counts for one in self._read]))
        self.attributes = credit.rows(of_documents, _lengths(held))

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
        start, end = self._read[passage].spans[row - self._starts[passage]]
        return self.passages[passage].text[start:end]

    def rows(self, passage: int) -> slice:
        """The sentences of a passage."""
        return slice(self._starts[passage], self._starts[passage + 1])


class _Credit:
    """What each word of some passages counts for each asked term.

    Args:
        texts: the words of the passages, in parts.
    """

    def __init__(
        self, asked: AskedTerms, vocabulary: Vocabulary, texts: Sequence[Numbers], likeness: Likeness | None
    ) -> None:
        self._asked = asked
        self._runs = {
            number: [[vocabulary.number(triple) for triple in run] for run in runs]
            for number, runs in _runs(asked.terms).items()
        }
        self._place = np.zeros(len(vocabulary), np.int32)
        for part in texts:
            self._place[part] = 1
        words: Numbers = np.flatnonzero(self._place).astype(np.int32)
        by_word = _other_forms(asked.terms, vocabulary, words)
        if likeness is not None and asked.code == DEFAULT_LANGUAGE:
            for word, row in likeness.of_words([term.word for term in asked.terms], vocabulary, words):
                by_word[word] = np.maximum(by_word[word], row) if word in by_word else row
        for number, term in enumerate(asked.terms):
            for form in term.forms:
                word = vocabulary.number(form)
                if word is not None and word < len(self._place) and self._place[word]:
                    by_word.setdefault(word, np.zeros(len(asked.terms), np.float32))[number] = 1.0
        self._place[words] = 0
        self._place[list(by_word)] = np.arange(1, len(by_word) + 1)
        self._table = np.asarray([np.zeros(len(asked.terms)), *by_word.values()], np.float32)

    def rows(self, words: Numbers, counts: Numbers) -> Credits:
        """Credits of texts, ``(texts, terms)``: of each term, the most that a word of the text counts.

        Args:
            words: of the texts, one after the other; `counts` says how many each has.
        """
        out = np.zeros((len(counts), len(self._asked.terms)), np.float32)
        places = self._place[words]
        hits = np.flatnonzero(places)
        if len(hits):
            texts = np.repeat(np.arange(len(counts)), counts)[hits]
            firsts = np.flatnonzero(np.diff(texts, prepend=-1))
            out[texts[firsts]] = np.maximum.reduceat(self._table[places[hits]], firsts, axis=0)
        for number, runs in self._runs.items():
            out[~self._holding(runs, words, counts), number] = 0.0
        return _smoothed(out, self._asked.terms)

    @staticmethod
    def _holding(runs: Sequence[Sequence[int | None]], words: Numbers, counts: Numbers) -> npt.NDArray[np.bool_]:
        """Whether each text holds the whole of one of `runs`."""
        texts = np.repeat(np.arange(len(counts)), counts)
        held = np.zeros(len(counts), np.bool_)
        for run in runs:
            known = [triple for triple in run if triple is not None]
            if len(known) == len(run):
                found = np.bincount(texts[np.isin(words, known)], minlength=len(counts))
                held |= found == len(run)
        return held


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


def _lengths(parts: Sequence[Numbers]) -> Numbers:
    return np.fromiter(map(len, parts), np.int32, len(parts))


def _other_forms(asked: Sequence[AskedTerm], vocabulary: Vocabulary, words: Numbers) -> dict[int, Credits]:
    """Those of `words` that are another form of asked terms, with their credits."""
    found: dict[int, Credits] = {}
    for number, term in enumerate(asked):
        for form in term.forms:
            if len(form) < STEM or not form.isalpha() or term.is_pair:
                continue
            alike = [w for w in vocabulary.beginning_with(form, words) if begins_alike(form, vocabulary.words[w])]
            alike += [w for w in vocabulary.ending_with(form, words) if ends_alike(form, vocabulary.words[w])]
            for word in alike:
                if word not in found:
                    found[word] = np.zeros(len(asked), np.float32)
                found[word][number] = FORM
    return found


def ends_alike(a: str, b: str) -> bool:
    """Whether one word ends with the other, as a compound with its head.

    >>> ends_alike("vertrag", "mietvertrag"), ends_alike("rat", "vorrat")
    (True, False)
    """
    return min(len(a), len(b)) > STEM and (a.endswith(b) or b.endswith(a))


def begins_alike(a: str, b: str) -> bool:
    """Whether two words are forms of one, or one begins with the other.

    >>> begins_alike("kirchen", "kirche"), begins_alike("haus", "hausmeister"), begins_alike("contract", "control")
    (True, False, False)
    """
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= BEGINNING * max(len(a), len(b)) or (shared > STEM and shared == min(len(a), len(b)))


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
