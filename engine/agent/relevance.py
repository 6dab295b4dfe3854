"""How well single sentences cover what is asked: the evidence in a passage, as opposed to its topic.

A passage ranks high for its topic when its words are spread over it; it answers when one sentence holds them together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log

import msgspec

from engine.agent.offline.words import content_words, subject_words
from engine.model.document import Passage
from engine.text.passages import blocks

HEADER_SHARE = 0.35
"""What a word of the question counts that stands in the passage's header only, as a share of one in the sentence."""
PLACE_SHARE = 0.2
"""What a word counts that only says where to look: a sentence that names its own paper is no evidence for that."""


class PassageWords(msgspec.Struct, frozen=True):
    """A passage as sets of comparable words.

    Attributes:
        sentences: one set a block, in reading order.
    """

    header: frozenset[str]
    sentences: tuple[frozenset[str], ...]


@lru_cache(maxsize=1_024)
def words_of(header: str, text: str) -> PassageWords:
    """The words of a passage; remembered, since searches of one collection meet the same passages."""
    return PassageWords(
        frozenset(content_words(header)),
        tuple(frozenset(content_words(text[span.start : span.end])) for span in blocks(text)),
    )


class Relevance:
    """Coverage of targets by sentences, weighted by the rarity of words among the passages at hand.

    Args:
        targets: what is asked, each readable on its own; words of the kind "article", "reported" do not count unless a
            target has no others.
        passages: those that are compared with each other; they stand for the collection in the weights.
        places: what the targets name only to say where to look; their words count `PLACE_SHARE`.
    """

    def __init__(self, targets: Sequence[str], passages: Iterable[Passage], places: Iterable[str] = ()) -> None:
        held = {p.label: words_of(p.header, p.text) for p in passages}
        self._held = held
        df: Counter[str] = Counter()
        for words in held.values():
            df.update(words.header.union(*words.sentences))
        self._count = len(held)
        self._places = frozenset(word for place in places for word in content_words(place))
        self._df: Mapping[str, int] = df
        self.targets = [self._weighted(target) for target in targets]

    def of(self, passage: Passage) -> float:
        """The best coverage of any target by one sentence, in [0, 1]."""
        return max((max(row, default=0.0) for row in self.table(passage)), default=0.0)

    def table(self, passage: Passage) -> list[list[float]]:
        """Coverage of each target by each sentence, in [0, 1]; one row a target."""
        words = self._held[passage.label]
        return [[_covered(target, sentence, words.header) for sentence in words.sentences] for target in self.targets]

    def weight(self, word: str) -> float:
        """How much a word tells, larger for a rarer one; > 0."""
        return log(1.0 + (self._count + 1.0) / (self._df.get(word, 0) + 0.5))

    def _weighted(self, target: str) -> dict[str, float]:
        words = subject_words(target) or content_words(target)
        return {
            word: self.weight(word) * (PLACE_SHARE if word in self._places else 1.0) for word in dict.fromkeys(words)
        }


def _covered(target: Mapping[str, float], sentence: frozenset[str], header: frozenset[str]) -> float:
    total = sum(target.values())
    if total == 0:
        return 0.0
    found = 0.0
    for word, weight in target.items():
        if word in sentence:
            found += weight
        elif word in header:
            found += HEADER_SHARE * weight
    return found / total
