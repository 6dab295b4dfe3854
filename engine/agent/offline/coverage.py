"""How much of what a question asks stands in the passages that were found for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log1p

import msgspec
import numpy as np
import numpy.typing as npt

from engine.agent.offline.asked_terms import AskedTerms, asked_terms
from engine.agent.offline.kinds import wanted
from engine.agent.offline.likeness import Likeness
from engine.agent.offline.names import names_in
from engine.agent.offline.question_words import without_content
from engine.agent.steps import ReadingPassage
from engine.analysis.analyzer import DEFAULT_LANGUAGE, query_terms

SENTENCES_OF = 8
"""Passages, best first, whose single sentences, and words of like meaning, are looked at."""
UNSEEN = 20
"""Passages without any of the words that are counted in where the collection's own counts are not known."""
HARDLY = 0.3
"""Share of a name below which it counts as absent."""
_WORD = re.compile(r"[^\W_]+")

Shares = npt.NDArray[np.float64]


class Coverage(msgspec.Struct, frozen=True):
    """What the best of several passages hold of a question; shares are of the weight of its terms, in [0, 1].

    Attributes:
        terms: how many different terms with content the question has; one that only says what kind of answer is wanted
            counts less.
        passage: share that the best passage holds, its header and attributes included.
        sentence: share that the best single sentence holds together with its header.
        names: mean over the proper names and figures of the question, each by the passage that holds most of it and
            weighted like its terms; 1.0 without names.
        absent: names of which no passage holds anything, as the question writes them.
        kind: 1 where the best sentence shows the kind of thing that is asked for (a figure, a time, a name), -1 where
            it does not, 0 where anything may answer.
    """

    terms: float
    passage: float
    sentence: float
    names: float
    absent: tuple[str, ...]
    kind: int = 0


class _Text(msgspec.Struct, frozen=True):
    terms: frozenset[str]
    words: frozenset[str]
    text: str


def coverage_of(
    asked: str,
    passages: Sequence[ReadingPassage],
    rarity: Mapping[str, float],
    *,
    documents: int = 0,
    likeness: Likeness | None = None,
) -> Coverage:
    """Coverage of `asked` by `passages`, best first.

    Args:
        rarity: idf of terms in the collection.
        documents: see `asked_terms`.
        likeness: counts words of like meaning; None counts the same words only.
    """
    terms = asked_terms(asked, rarity, documents)
    if not passages or terms.total <= 0:
        return Coverage(0.0, 0.0, 0.0, 0.0, ())
    near, far = passages[:SENTENCES_OF], passages[SENTENCES_OF:]
    sentences: list[_Text] = []
    wholes: list[_Text] = []
    for passage in near:
        header = _text(passage.passage.header, terms)
        read = [_text(block.text, terms) for block in passage.blocks]
        sentences += [_joined(block.text, block, header) for block in read]
        wholes.append(_joined("", header, _text(_attributes(passage), terms), *read))
    shares = _shares(terms, [*wholes, *sentences], likeness)
    weights = np.asarray([term.weight for term in terms.terms])
    of_passages = np.concatenate([shares[: len(wholes)], _shares(terms, [_text(shown_text(p), terms) for p in far])])
    of_sentences = shares[len(wholes) :] @ weights
    best = sentences[int(of_sentences.argmax())].text if sentences else ""
    names, absent = _names(asked, terms, of_passages)
    shown_by = wanted(asked)
    return Coverage(
        terms=sum(term.share for term in terms.terms),
        passage=float((of_passages @ weights).max()) / terms.total,
        sentence=float(of_sentences.max()) / terms.total if sentences else 0.0,
        names=names,
        absent=absent,
        kind=0 if shown_by is None else 1 if shown_by.search(best) else -1,
    )


def _text(text: str, terms: AskedTerms) -> _Text:
    return _Text(terms.read(text), words_in(text), text)


def _joined(text: str, *parts: _Text) -> _Text:
    none = frozenset[str]()
    return _Text(none.union(*(part.terms for part in parts)), none.union(*(part.words for part in parts)), text)


def _shares(terms: AskedTerms, texts: Sequence[_Text], likeness: Likeness | None = None) -> Shares:
    """How far each text holds each term, shape ``(len(texts), len(terms))``, in [0, 1]."""
    held = np.zeros((len(texts), len(terms.terms)))
    for row, text in zip(held, texts, strict=True):
        row[:] = [bool(term.forms & text.terms) for term in terms.terms]
    if likeness is not None and not held.all():
        held = np.maximum(held, likeness.credits([term.word for term in terms.terms], [text.words for text in texts]))
    return held


def _names(asked: str, terms: AskedTerms, held: Shares) -> tuple[float, tuple[str, ...]]:
    found = weighed = 0.0
    absent: list[str] = []
    for name in names_in(asked):
        named = frozenset(query_terms(name, terms.languages))
        own = [number for number, term in enumerate(terms.terms) if term.forms & named]
        weights = np.asarray([terms.terms[number].weight for number in own])
        mass = float(weights.sum())
        if mass <= 0:
            continue
        best = float((held[:, own] @ weights).max())
        found += best
        weighed += mass
        if best < HARDLY * mass:
            absent.append(name)
    return (found / weighed if weighed else 1.0), tuple(absent)


def weights_of(text: str, rarity: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Term → IDF, for the terms of `text` that have content; all of them when none has."""
    terms = list(dict.fromkeys(query_terms(text)))
    kept = [term for term in terms if term not in without_content(DEFAULT_LANGUAGE)] or terms
    return {term: rarity[term] if term in rarity else _counted(term, held) for term in kept}


def _counted(term: str, held: Sequence[frozenset[str]]) -> float:
    # Passages found for a question hold its words more often than others do; unseen ones make up for it.
    frequency, total = sum(term in terms for terms in held), len(held) + UNSEEN
    return log1p((total - frequency + 0.5) / (frequency + 0.5))


def shown_text(passage: ReadingPassage) -> str:
    """Everything that a reader sees of a passage: header, text and short attributes."""
    return f"{passage.passage.header} {passage.passage.text} {_attributes(passage)}"


def _attributes(passage: ReadingPassage) -> str:
    return " ".join(str(value) for value in passage.attributes.values())


@lru_cache(maxsize=4_096)
def terms_in(text: str) -> frozenset[str]:
    """The index's terms of a text; remembered, since searches of one collection meet the same passages."""
    return frozenset(query_terms(text))


@lru_cache(maxsize=4_096)
def words_in(text: str) -> frozenset[str]:
    """The words of a text, lower case."""
    return frozenset(_WORD.findall(text.lower()))
