"""Evidence without a model: the sentences of a passage that share the question's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from engine.agent.offline.words import content_words
from engine.agent.steps import Evidence, Plan, Question, ReadingPassage


class OfflineReader:
    """Scores blocks by the words of the question that they hold, weighted by their rarity among the passages."""

    async def read(self, question: Question, plan: Plan, passages: Sequence[ReadingPassage]) -> list[Evidence]:
        asked = set(content_words(question.message or question.request.objective))
        held = [set(content_words(p.passage.header + " " + p.passage.text)) for p in passages]
        df = Counter(word for words in held for word in words & asked)
        weight = {w: log(1 + len(passages) / (1 + df[w])) + 0.1 for w in asked}
        total = sum(weight.values()) or 1.0
        out: list[Evidence] = []
        for passage, words in zip(passages, held, strict=True):
            coverage = sum(weight[w] for w in words & asked) / total
            scored = sorted(
                (
                    (sum(weight[w] for w in set(content_words(b.text)) & asked), -n, b.id)
                    for n, b in enumerate(passage.blocks)
                ),
                reverse=True,
            )
            chosen = [block_id for score, _, block_id in scored[:3] if score > 0] or [passage.blocks[0].id]
            order = {b.id: n for n, b in enumerate(passage.blocks)}
            out.append(Evidence(passage, tuple(sorted(chosen, key=order.__getitem__)), 10 * coverage, (0,)))
        return out
