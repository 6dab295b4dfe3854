"""How well single sentences cover what is asked: the evidence in a passage, as opposed to its topic.

A passage ranks high for its topic when its words are spread over it; it answers when one sentence holds them together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.agent.evidence.table import Table
from engine.agent.steps import Plan
from engine.model.document import Passage
from engine.question.terms import AskedTerm, AskedTerms, content_terms
from engine.question.turn import Question

HEADER_SHARE = 0.35
"""What a word of the question counts that stands in the passage's header only, as a share of one in the sentence."""
PLACE_SHARE = 0.2
"""What a word counts that only says where to look: a sentence that names its own paper is no evidence for that."""

Shares = npt.NDArray[np.float32]


class Coverage:
    """Coverage of a plan's targets by sentences.

    Attributes:
        scores: shares of each target's weight, in [0, 1], shape ``(sentences, targets)``; see `rows`.
    """

    def __init__(self, question: Question, plan: Plan, passages: Sequence[Passage]) -> None:
        targets = [question.terms_of(text) for text in targets_of(plan)]
        columns: dict[frozenset[str], int] = {}
        terms: list[AskedTerm] = []
        for term in (term for target in targets for term in target.terms):
            if term.forms not in columns:
                columns[term.forms] = len(terms)
                terms.append(term)
        read = targets[0] if targets else AskedTerms(())
        self._table = Table(AskedTerms(tuple(terms), read.code, read.languages), passages)
        places = frozenset(term for place in places_of(plan) for term in content_terms(place, read.code))
        weights = np.zeros((len(terms), len(targets)), np.float32)
        for number, target in enumerate(targets):
            for term in target.terms:
                weights[columns[term.forms], number] = term.weight * (PLACE_SHARE if term.forms & places else 1.0)
        weights /= np.maximum(weights.sum(axis=0), 1e-9)
        above = np.maximum(self._table.above, HEADER_SHARE * self._table.header[self._table.of])
        held = np.maximum(self._table.own, above)
        self.scores: Shares = held @ weights

    def rows(self, passage: int) -> Shares:
        """The sentences of a passage, ``(sentences, targets)``."""
        return self.scores[self._table.rows(passage)]

    def best(self, passage: int) -> float:
        """The best coverage of any target by one sentence, in [0, 1]."""
        return float(self.rows(passage).max(initial=0.0))


def targets_of(plan: Plan) -> list[str]:
    """What evidence is measured by: the parts of the question, and the queries made of them, which name no source."""
    parts = [part.text for part in plan.sub_questions]
    parts += [query.text for query in plan.queries if query.sub_question >= 0]
    parts = parts or [query.text for query in plan.queries[:1]]
    return list(dict.fromkeys([*parts, *plan.followed]))


def places_of(plan: Plan) -> list[str]:
    """What the question names only to say where to look."""
    return [place for part in plan.sub_questions for place in part.places]
