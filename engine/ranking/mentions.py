"""Documents that the best passages name: the second step of a question whose answer stands in two places.

"Who directed the film that …?" brings up the film; the director's own page holds few of the question's words, but the
film's page names it. A title that stands word for word in a good passage of another document is such a link, as
hyperlinks are in retrieval over several hops (Asai et al. 2020, "Learning to retrieve reasoning paths"), without links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from engine.ranking.features import Shares, TermIds

NAMING = 10
"""Passages that may name others: the best so far."""
COMMON_NAME_SHARE = 0.25
"""A name that stands in more of the passages than this tells nothing: a publisher, a word that is also a title."""
_QUALIFIER = re.compile(r"\s*[(\[（][^()\[\]（）]*[)\]）]\s*$")


def without_qualifier(title: str) -> str:
    """`title` less what stands in brackets at its end, which tells namesakes apart and is left out in running text.

    >>> without_qualifier("Mercury (planet)"), without_qualifier("(I)")
    ('Mercury', '(I)')
    """
    return _QUALIFIER.sub("", title) or title


def name_mentions(
    names: Sequence[Sequence[TermIds]],
    bodies: Sequence[TermIds],
    documents: Sequence[str],
    strengths: Shares,
) -> Shares:
    """How strongly a better passage of another document names each passage's document; ``(passages,)``, in [0, 1].

    The square of the strength of the strongest of the `NAMING` first passages that holds a name of it, term for term
    and in order. Names that documents share, and names that stand in too many passages, do not count.

    Args:
        names: of each passage's document, as term ids; empty ones are ignored.
        bodies: the passages' terms in order.
        documents: which document each passage is of.
        strengths: score of each passage as a share of the best, in [0, 1].
    """
    texts = [body.tobytes() for body in bodies]
    order: list[int] = np.argsort(-strengths, kind="stable").tolist()
    naming = order[:NAMING]
    named = np.zeros(len(texts), np.float32)
    for name, owners in _owned_by_one(names, documents).items():
        document = documents[owners[0]]
        first = next((at for at in naming if documents[at] != document and _stands_in(name, texts[at])), None)
        if first is None:
            continue
        held = sum(1 for at in order if documents[at] != document and _stands_in(name, texts[at]))
        if held <= max(1.0, COMMON_NAME_SHARE * len(texts)):
            named[owners] = np.maximum(named[owners], strengths[first] ** 2)
    return named


def _owned_by_one(names: Sequence[Sequence[TermIds]], documents: Sequence[str]) -> dict[bytes, list[int]]:
    """Name → passages of the one document that has it."""
    owners: dict[bytes, list[int]] = {}
    for at, of in enumerate(names):
        for name in of:
            if len(name):
                owners.setdefault(name.tobytes(), []).append(at)
    return {name: of for name, of in owners.items() if len({documents[at] for at in of}) == 1}


def _stands_in(name: bytes, text: bytes) -> bool:
    """Whether the terms of `name` follow each other in `text`, both arrays of int32 as bytes."""
    at = text.find(name)
    while at >= 0 and at % 4:
        at = text.find(name, at + 1)
    return at >= 0
