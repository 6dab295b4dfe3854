"""Names of documents where they stand in a text: titles and ids, each with the document that has it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from engine.analysis.analyzer import text_analyzer
from engine.analysis.language import language
from engine.analysis.scripts import prepare
from engine.model.document import Passage
from engine.question.terms import identifiers_in
from engine.text.headers import split_header, without_qualifier

NAMESAKES = 3
"""Documents that may share a name; one that more of them share, such as a publisher's, names none of them."""
FOLLOWED = 0.95
"""What a document is worth that a passage names, as a share of that passage's score."""
NAMED = 0.99
"""What a document is worth at least whose title of several words stands in the question, likewise."""
UNRELATED = 0.95
"""Factor on a name that stands near no word of the question: the film's director is asked for, not its actors."""
NEAR_BEFORE, NEAR_AFTER = 6, 3
"""Terms before a name, and after it, in which a word of the question relates to it."""
SAME_BEGINNING = 5
"""Letters that two words share at least to be forms of one: "directed", "director"."""
MARK = "\x1f"
"""Stands around each term of a text."""


class Link(msgspec.Struct, frozen=True):
    """A document that a better passage, or the question, names.

    Attributes:
        passage: the one of the document that holds most of the question.
        name: its title.
        through: the passage that names it; None where the question does.
        strength: of the best passage's score, in (0, 1].
        related: a word of the question stands beside the name in `through`.
        is_titled: the name is the document's own; else its text speaks of it, which proves little.
    """

    passage: Passage
    name: str
    through: Passage | None
    strength: float
    related: bool = False
    is_titled: bool = True


class Titles:
    """The titles of some passages, and where they stand in a text.

    Args:
        passages: candidates; those of one document share their titles.
        spoken: the language that names and texts are compared in.
    """

    def __init__(self, passages: Sequence[Passage], spoken: str) -> None:
        self._spoken = spoken
        self._passages: dict[str, list[Passage]] = {}
        owners: dict[str, list[tuple[str, str]]] = {}
        for passage in passages:
            held = self._passages.setdefault(passage.document_id, [])
            held.append(passage)
            if len(held) == 1:
                titles = [*map(without_qualifier, split_header(passage.header)), passage.document_id]
                for title in dict.fromkeys([*titles, *identifiers_in(passage.header)]):
                    key = terms_of(title, spoken)
                    if len(key) > 2:
                        owners.setdefault(key, []).append((passage.document_id, title))
        self._owners = {key: held for key, held in owners.items() if len({d for d, _ in held}) <= NAMESAKES}

    def in_question(self, question: str) -> list[Link]:
        """Documents that `question` names by a title of several words."""
        text = terms_of(question, self._spoken)
        return [
            Link(self._best_of(document, question), title, None, NAMED)
            for key, _ in self._standing_in(text)
            if key.count(MARK) > 2
            for document, title in self._owners[key]
        ]

    def in_passage(self, question: str, seed: Passage, share: float) -> list[Link]:
        """Documents other than its own that `seed` names.

        Args:
            share: score of the seed as a share of the best.
        """
        text = terms_of(seed.text, self._spoken)
        asked = content_of(terms_of(question, self._spoken), self._spoken)
        found: list[Link] = []
        for key, places in self._standing_in(text):
            related = any(relates(text, start, start + len(key), asked) for start in places)
            strength = FOLLOWED * share * (1.0 if related else UNRELATED)
            found += [
                Link(self._best_of(document, question), title, seed, strength, related)
                for document, title in self._owners[key]
                # A single word is a name where it is written as one: "Home" is a film, "home" is none.
                if document != seed.document_id and (key.count(MARK) > 2 or title in seed.text)
            ]
        return found

    def _standing_in(self, text: str) -> list[tuple[str, list[int]]]:
        """Names with the places where they stand, but not where they are a part of a longer name that stands there."""
        places = {key: found for key in self._owners if (found := places_of(text, key))}
        spans = [(start, start + len(key)) for key, found in places.items() for start in found]
        standing: list[tuple[str, list[int]]] = []
        for key, found in places.items():
            kept = [
                start
                for start in found
                if not any(a <= start and start + len(key) <= b and b - a > len(key) for a, b in spans)
            ]
            if kept:
                standing.append((key, kept))
        return standing

    def _best_of(self, document: str, question: str) -> Passage:
        """The document's passage with the most words of the question, the first of equals."""
        held = self._passages[document]
        if len(held) == 1:
            return held[0]
        asked = content_of(terms_of(question, self._spoken), self._spoken)
        return max(held, key=lambda p: (len(asked & set(terms_of(p.text, self._spoken).split(MARK))), -p.label))


@lru_cache(maxsize=4_096)
def terms_of(text: str, spoken: str) -> str:
    """The terms of `text` in order with a mark around each; remembered, since searches meet the same passages."""
    return MARK + MARK.join(text_analyzer(spoken).analyze(prepare(text))) + MARK


def places_of(text: str, key: str) -> list[int]:
    """Where the terms of a name begin among those of a text."""
    found: list[int] = []
    at = text.find(key)
    while at >= 0:
        found.append(at)
        at = text.find(key, at + 1)
    return found


def content_of(terms: str, spoken: str) -> frozenset[str]:
    """Those of `terms` that say something of a subject."""
    return frozenset(terms.split(MARK)) - _empty(spoken) - {""}


@lru_cache(maxsize=64)
def _empty(spoken: str) -> frozenset[str]:
    return frozenset(terms_of(" ".join(sorted(language(spoken).empty)), spoken).split(MARK))


def relates(text: str, start: int, end: int, asked: frozenset[str]) -> bool:
    """Whether a word of the question, or another form of one, stands beside ``text[start:end]``."""
    before = text[:start].rsplit(MARK, NEAR_BEFORE)[1:]
    after = text[end:].split(MARK, NEAR_AFTER)[:NEAR_AFTER]
    beginnings = {word[:SAME_BEGINNING] for word in asked if len(word) >= SAME_BEGINNING}
    return any(word in asked or word[:SAME_BEGINNING] in beginnings for word in (*before, *after) if word)
