"""The second hop: documents that the best passages name, for questions whose answer stands in two places.

"Where was the director of the film X born?" brings up the film; the director's own page shares hardly a word with the
question, but its title stands in the film's passage. So the titles that stand in the best passages, and in the
question, are looked up among the headers of the collection, and what a good passage names is nearly as good as the
passage. That is one step of spreading from entities to passages, as in HippoRAG (arXiv 2405.14831) and LinearRAG
(arXiv 2510.10114), with titles for entities, so that nothing is extracted beforehand and every language and script is
served alike. Two lookups at most a question, and none where the best passage holds all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

from engine.agent.steps import PlannedQuery
from engine.analysis.analyzer import language_of, text_analyzer
from engine.analysis.language import language
from engine.analysis.scripts import prepare
from engine.model.document import Passage
from engine.question.asked_language import question_language
from engine.question.names import names_in
from engine.question.terms import identifiers_in, without_content
from engine.retrieval.query import Ranked
from engine.text.headers import split_header, without_qualifier


class Lookups(NamedTuple):
    """Ways to bring up what is named, each with how many passages at most.

    Attributes:
        titled: by what their headers share with a text.
        query: by any query.
    """

    titled: Callable[[str, int], Ranked]
    query: Callable[[PlannedQuery, int], Ranked]


SEEDS = 3
"""Documents whose names are followed: the best, and as many that the question itself names."""
LOOKED_UP = 24
"""Passages that a lookup of titles gives."""
LINKS = 8
"""Documents that are added at most; more would push out what the question itself brought up."""
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
FOLLOWED_PARTS = 2
"""Documents that the question is asked of by name, at most: those of two that it compares."""
_MARK = "\x1f"
_WORD = re.compile(r"\w+")
_ID = re.compile(r"(?<!\w)(?=[\w./-]*[^\W\d])(?=[\w./-]*(?:\d|\w[./]\w))\w[\w./-]+\w(?!\w)")


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


def with_links(question: str, ranked: Ranked, lookups: Lookups, k: int) -> Ranked:
    """`ranked` with what its best passages name put where they lead to; at most `k` passages."""
    return spread(ranked, links(question, ranked, lookups), k)


def links(question: str, ranked: Ranked, lookups: Lookups) -> list[Link]:
    """What `question`, and the best passages of `ranked`, name: at most `LINKS` documents, strongest first."""
    shares = shares_of(ranked)
    seeds = _first_of_documents(ranked.passages)[:SEEDS]
    if not seeds or not shares:
        return []
    spoken = language_of(seeds[0].text)
    if not lacking(question, seeds[0], spoken):
        return []
    titles = lookups.titled("\n".join([question, *(seed.text for seed in seeds)]), LOOKED_UP).passages
    named = _Names([*titles, *_with_ids(question, seeds, lookups)], spoken)
    found: dict[str, Link] = {}
    asked = [link for link in named.in_question(question) if link.strength > 0]
    for link in asked:
        shares[link.passage.document_id] = max(NAMED, shares.get(link.passage.document_id, 0.0))
        _keep(found, link)
    for seed in seeds:
        for link in named.in_passage(question, seed, shares[seed.document_id]):
            _keep(found, link)
    known = {seed.document_id for seed in seeds}
    more = _first_of_documents(link.passage for link in asked if link.passage.document_id not in known)[:SEEDS]
    if more:
        others = _Names(lookups.titled("\n".join(seed.text for seed in more), LOOKED_UP).passages, spoken)
        for seed in more:
            for link in others.in_passage(question, seed, shares[seed.document_id]):
                _keep(found, link)
    if not any(link.related for link in found.values()):
        for link in _mentioned(question, seeds[0], lookups, spoken):
            _keep(found, link)
    return sorted(found.values(), key=lambda link: (-link.strength, link.passage.label))[:LINKS]


def _with_ids(question: str, seeds: Sequence[Passage], lookups: Lookups) -> Sequence[Passage]:
    """Passages of documents whose own id, such as a ticket's number or a file's name, stands in a text."""
    ids = dict.fromkeys(id_ for text in (question, *(seed.text for seed in seeds)) for id_ in _ids_in(text))
    wanted = [form for id_ in list(ids)[:LINKS] for form in dict.fromkeys((id_, id_.lower(), id_.upper()))]
    return lookups.query(PlannedQuery(question, narrowing={"id": {"$in": wanted}}), LOOKED_UP).passages if ids else ()


def _mentioned(question: str, seed: Passage, lookups: Lookups, spoken: str) -> Iterator[Link]:
    """Passages that say of a name in `seed` what `seed` lacks: "the customer that …" is a name without a page.

    Only names beside a word of the question are looked for.
    """
    code = question_language(question)
    missing = frozenset(w for w in lacking(question, seed, spoken) - without_content(code) if not w.isdecimal())
    asked, terms = _content(_terms(question, spoken), spoken), _terms(seed.text, spoken)
    near: dict[str, str] = {}
    for name in names_in(seed.text, code=code):
        key = _terms(name, spoken)
        is_new = len(key) > 2 and not name[0].isdigit() and key not in _terms(question, spoken)
        if is_new and any(_relates(terms, start, start + len(key), asked) for start in _places(terms, key)):
            near.setdefault(key, name)
    names = dict(list(near.items())[:FOLLOWED_PARTS])
    if not names or not missing:
        return
    words = " ".join([*names.values(), *missing])
    for passage in lookups.query(PlannedQuery(words, mode="lexical"), LOOKED_UP).passages:
        text = _terms(f"{passage.header}\n{passage.text}", spoken)
        told = passage.document_id != seed.document_id and missing - lacking(question, passage, spoken)
        key = next((key for key in names if key in text), None)
        if told and key is not None:
            yield Link(passage, names.pop(key), seed, FOLLOWED, related=True, is_titled=False)


def followed(question: str, found: Sequence[Link]) -> list[str]:
    """What `question` asks of the documents that it describes instead of naming them: a name with what is still asked.

    "Where was the director of the film X born?" asks "Ada Quill born" where the film's passage names Ada Quill beside
    "directed" and says nothing of "born", and her own does. Best first, one for each passage that names any. A text
    that only speaks of the name too is not asked: in running text a name proves too little to be said first.
    """
    asked: dict[int, str] = {}
    for link in found:
        if link.through is None or not link.related or not link.is_titled or link.through.label in asked:
            continue
        spoken = language_of(link.through.text)
        missing = lacking(question, link.through, spoken)
        told = missing - lacking(question, link.passage, spoken)
        if told:
            words = [word for word in _WORD.findall(question) if told & set(_terms(word, spoken).split(_MARK))]
            asked[link.through.label] = " ".join([link.name, *dict.fromkeys(words)])
    return list(asked.values())[:FOLLOWED_PARTS]


def leads(found: Sequence[Link]) -> tuple[tuple[str, str], ...]:
    """Ids of a document that names another, empty where the question does, and of that other; likeliest first.

    What a document names that the question names itself comes before what others name.
    """
    asked = {link.passage.document_id for link in found if link.through is None}
    pairs = [(link.through.document_id if link.through else "", link) for link in found]
    pairs.sort(key=lambda pair: (pair[0] != "", pair[0] not in asked, not pair[1].related))
    return tuple((through, link.passage.document_id) for through, link in pairs)


def together(found: Sequence[Link]) -> list[tuple[str, ...]]:
    """Ids of documents that are joined: each related one with that which names it, and all that the question names."""
    named = [link.passage.document_id for link in found if link.through is None]
    beside = {
        link.through.document_id: link.passage.document_id
        for link in reversed(found)
        if link.through is not None and link.related and link.is_titled
    }
    groups: list[tuple[str, ...]] = list(beside.items())
    if len(named) > 1:
        groups.append((*named, *(beside[document] for document in named if document in beside)))
    return groups


def spread(ranked: Ranked, found: Sequence[Link], k: int) -> Ranked:
    """`ranked` with the documents of `found` at the scores that their strength gives them; the best stays the best."""
    if not found or len(ranked.passages) == 0:
        return ranked
    top = float(ranked.scores[0])
    at = {passage.label: place for place, passage in enumerate(ranked.passages)}
    scores = dict(zip(at, ranked.scores.tolist(), strict=True))
    passages = {passage.label: passage for passage in ranked.passages}
    first = {passage.document_id: passage.label for passage in reversed(ranked.passages)}
    for link in found:
        label = first.get(link.passage.document_id, link.passage.label)
        passages.setdefault(label, link.passage)
        scores[label] = max(scores.get(label, 0.0), link.strength * top)
    # The sort is stable: what was ranked keeps its order among equals.
    order = sorted(scores, key=lambda label: -scores[label])[:k]
    lexical, vector = ranked.lexical_scores.tolist(), ranked.vector_scores.tolist()
    return Ranked(
        tuple(passages[label] for label in order),
        np.asarray([scores[label] for label in order], np.float32),
        np.asarray([lexical[at[label]] if label in at else 0.0 for label in order], np.float32),
        np.asarray([vector[at[label]] if label in at else 0.0 for label in order], np.float32),
        ranked.scanned.union(link.passage.document_id for link in found),
        ranked.allowed,
    )


def lacking(question: str, passage: Passage, spoken: str) -> frozenset[str]:
    """Terms of `question` with content that neither `passage` nor its header holds."""
    held = _terms(f"{passage.header}\n{passage.text}", spoken).split(_MARK)
    return _content(_terms(question, spoken), spoken).difference(held)


def shares_of(ranked: Ranked) -> dict[str, float]:
    """Document → score of its best passage as a share of the best of all; empty where no score is above 0."""
    top = float(ranked.scores[0]) if len(ranked.scores) else 0.0
    if top <= 0:
        return {}
    shares: dict[str, float] = {}
    for passage, score in zip(ranked.passages, ranked.scores.tolist(), strict=True):
        shares.setdefault(passage.document_id, max(0.0, score) / top)
    return shares


class _Names:
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
                    key = _terms(title, spoken)
                    if len(key) > 2:
                        owners.setdefault(key, []).append((passage.document_id, title))
        self._owners = {key: held for key, held in owners.items() if len({d for d, _ in held}) <= NAMESAKES}

    def in_question(self, question: str) -> list[Link]:
        """Documents that `question` names by a title of several words."""
        text = _terms(question, self._spoken)
        return [
            Link(self._best_of(document, question), title, None, NAMED)
            for key, _ in self._standing_in(text)
            if key.count(_MARK) > 2
            for document, title in self._owners[key]
        ]

    def in_passage(self, question: str, seed: Passage, share: float) -> list[Link]:
        """Documents other than its own that `seed` names.

        Args:
            share: score of the seed as a share of the best.
        """
        text = _terms(seed.text, self._spoken)
        asked = _content(_terms(question, self._spoken), self._spoken)
        found: list[Link] = []
        for key, places in self._standing_in(text):
            related = any(_relates(text, start, start + len(key), asked) for start in places)
            strength = FOLLOWED * share * (1.0 if related else UNRELATED)
            found += [
                Link(self._best_of(document, question), title, seed, strength, related)
                for document, title in self._owners[key]
                # A single word is a name where it is written as one: "Home" is a film, "home" is none.
                if document != seed.document_id and (key.count(_MARK) > 2 or title in seed.text)
            ]
        return found

    def _standing_in(self, text: str) -> list[tuple[str, list[int]]]:
        """Names with the places where they stand, but not where they are a part of a longer name that stands there."""
        places = {key: found for key in self._owners if (found := _places(text, key))}
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
        asked = _content(_terms(question, self._spoken), self._spoken)
        return max(held, key=lambda p: (len(asked & set(_terms(p.text, self._spoken).split(_MARK))), -p.label))


def _ids_in(text: str) -> Iterator[str]:
    """What may be the id of a document: tokens of letters with a digit, a path or a file's ending in them."""
    for match in _ID.finditer(text):
        yield match.group().strip("./-")


def _keep(found: dict[str, Link], link: Link) -> None:
    held = found.get(link.passage.document_id)
    if held is None or held.strength < link.strength:
        found[link.passage.document_id] = link


def _first_of_documents(passages: Iterable[Passage]) -> list[Passage]:
    """The first passage of each document, in order."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.document_id, passage)
    return list(first.values())


@lru_cache(maxsize=4_096)
def _terms(text: str, spoken: str) -> str:
    """The terms of `text` in order with a mark around each; remembered, since searches meet the same passages."""
    return _MARK + _MARK.join(text_analyzer(spoken).analyze(prepare(text))) + _MARK


def _places(text: str, key: str) -> list[int]:
    found: list[int] = []
    at = text.find(key)
    while at >= 0:
        found.append(at)
        at = text.find(key, at + 1)
    return found


def _content(terms: str, spoken: str) -> frozenset[str]:
    """Those of `terms` that say something of a subject."""
    return frozenset(terms.split(_MARK)) - _empty(spoken) - {""}


@lru_cache(maxsize=64)
def _empty(spoken: str) -> frozenset[str]:
    return frozenset(_terms(" ".join(sorted(language(spoken).empty)), spoken).split(_MARK))


def _relates(text: str, start: int, end: int, asked: frozenset[str]) -> bool:
    """Whether a word of the question, or another form of one, stands beside ``text[start:end]``."""
    before = text[:start].rsplit(_MARK, NEAR_BEFORE)[1:]
    after = text[end:].split(_MARK, NEAR_AFTER)[:NEAR_AFTER]
    beginnings = {word[:SAME_BEGINNING] for word in asked if len(word) >= SAME_BEGINNING}
    return any(word in asked or word[:SAME_BEGINNING] in beginnings for word in (*before, *after) if word)
