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
from typing import NamedTuple

import numpy as np

from engine.agent.steps import PlannedQuery
from engine.agent.titles import FOLLOWED, MARK, NAMED, Link, Titles, content_of, places_of, relates, terms_of
from engine.analysis.analyzer import language_of
from engine.model.document import Passage
from engine.question.asked_language import question_language
from engine.question.names import names_in
from engine.question.terms import without_content
from engine.retrieval.query import Ranked


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
FOLLOWED_PARTS = 2
"""Documents that the question is asked of by name, at most: those of two that it compares."""
_WORD = re.compile(r"\w+")
_ID = re.compile(r"(?<!\w)(?=[\w./-]*[^\W\d])(?=[\w./-]*(?:\d|\w[./]\w))\w[\w./-]+\w(?!\w)")


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
    named = Titles([*titles, *_with_ids(question, seeds, lookups)], spoken)
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
        others = Titles(lookups.titled("\n".join(seed.text for seed in more), LOOKED_UP).passages, spoken)
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

    Only names beside a word of the question are looked for. A passage is worth as much as it tells of what is lacking.
    """
    code = question_language(question)
    missing = frozenset(w for w in lacking(question, seed, spoken) - without_content(code) if not w.isdecimal())
    asked, terms = content_of(terms_of(question, spoken), spoken), terms_of(seed.text, spoken)
    near: dict[str, str] = {}
    for name in names_in(seed.text, code=code):
        key = terms_of(name, spoken)
        is_new = len(key) > 2 and not name[0].isdigit() and key not in terms_of(question, spoken)
        if is_new and any(relates(terms, start, start + len(key), asked) for start in places_of(terms, key)):
            near.setdefault(key, name)
    names = dict(list(near.items())[:FOLLOWED_PARTS])
    if not names or not missing:
        return
    words = " ".join([*names.values(), *missing])
    for passage in lookups.query(PlannedQuery(words, mode="lexical"), LOOKED_UP).passages:
        text = terms_of(f"{passage.header}\n{passage.text}", spoken)
        told = passage.document_id != seed.document_id and missing - lacking(question, passage, spoken)
        key = next((key for key in names if key in text), None)
        if told and key is not None:
            share = len(told) / len(missing)
            yield Link(passage, names.pop(key), seed, FOLLOWED * share, related=True, is_titled=False)


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
            words = [word for word in _WORD.findall(question) if told & set(terms_of(word, spoken).split(MARK))]
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
    held = terms_of(f"{passage.header}\n{passage.text}", spoken).split(MARK)
    return content_of(terms_of(question, spoken), spoken).difference(held)


def shares_of(ranked: Ranked) -> dict[str, float]:
    """Document → score of its best passage as a share of the best of all; empty where no score is above 0."""
    top = float(ranked.scores[0]) if len(ranked.scores) else 0.0
    if top <= 0:
        return {}
    shares: dict[str, float] = {}
    for passage, score in zip(ranked.passages, ranked.scores.tolist(), strict=True):
        shares.setdefault(passage.document_id, max(0.0, score) / top)
    return shares


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
