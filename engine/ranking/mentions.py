"""Documents that the best passages name: the second step of a question whose answer stands in two places.

"Who directed the film that …?" brings up the film; the director's own page holds few of the question's words, but the
film's page names it. A title that stands word for word in a good passage of another document is such a link, as
hyperlinks are in retrieval over several hops (Asai et al. 2020, "Learning to retrieve reasoning paths"), without links.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.ranking.features import Shares
from engine.ranking.passage_terms import Indices, PassageTerms, TermTexts, places_of_any

NAMING = 10
"""Passages that may name others: the best so far."""
COMMON_NAME_SHARE = 0.25
"""A name that stands in more of the passages than this tells nothing: a publisher, a word that is also a title."""


def name_mentions(passages: PassageTerms, strengths: Shares) -> Shares:
    """How strongly a better passage of another document names each passage's document; ``(passages,)``, in [0, 1].

    The square of the strength of the strongest of the `NAMING` first passages that holds a name of it, term for term
    and in order. Names that documents share, and names that stand in too many passages, do not count.

    Args:
        strengths: score of each passage as a share of the best, in [0, 1].
    """
    named = np.zeros(len(passages), np.float32)
    held = _standing(passages.names, passages.bodies)
    documents = passages.document_numbers
    naming = np.argsort(-strengths, kind="stable")[:NAMING]
    most = max(1.0, COMMON_NAME_SHARE * len(passages))
    for names in _equal_names(passages.names, np.flatnonzero(held.any(axis=1))):
        owners = passages.named[names]
        document = documents[owners[0]]
        if (documents[owners] != document).any():
            continue
        elsewhere = held[names[0]] & (documents != document)
        first = np.flatnonzero(elsewhere[naming])
        if len(first) and int(np.count_nonzero(elsewhere)) <= most:
            strength = strengths[naming[first[0]]]
            named[owners] = np.maximum(named[owners], strength * strength)
    return named


def _equal_names(names: TermTexts, which: Indices) -> list[Indices]:
    """The names of `which` in groups of equal ones."""
    groups: dict[bytes, list[int]] = {}
    starts, ends = names.starts.tolist(), np.cumsum(names.lengths).tolist()
    for name in which.tolist():
        groups.setdefault(names.terms[starts[name] : ends[name]].tobytes(), []).append(name)
    return [np.array(group, np.int64) for group in groups.values()]


def _standing(names: TermTexts, texts: TermTexts) -> npt.NDArray[np.bool_]:
    """Whether the terms of each name follow each other in each text; shape ``(names, texts)``. No name is empty."""
    found = np.zeros((len(names.lengths), len(texts.lengths)), np.bool_)
    if len(names.lengths) == 0 or len(texts.terms) == 0:
        return found
    starts = names.starts
    order = np.argsort(names.terms[starts], kind="stable")
    first = names.terms[starts][order]
    near = places_of_any(first, texts.terms)
    terms = texts.terms[near]
    begins = np.searchsorted(first, terms)
    # Every place where a text has the first term of a name, with each name that begins so.
    counts = np.searchsorted(first, terms, side="right") - begins
    held = np.flatnonzero(counts)
    places, counts = near[held], counts[held]
    begun = np.repeat(begins[held] - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    name, place = order[begun], np.repeat(places, counts)
    text_ends = np.cumsum(texts.lengths)
    text = np.searchsorted(text_ends, place, side="right")
    fits = place + names.lengths[name] <= text_ends[text]
    name, place, text = name[fits], place[fits], text[fits]
    for step in range(1, int(names.lengths.max())):
        longer = names.lengths[name] > step
        same = ~longer
        same[longer] = names.terms[starts[name[longer]] + step] == texts.terms[place[longer] + step]
        name, place, text = name[same], place[same], text[same]
    found[name, text] = True
    return found
