"""Evidence as the offline twins know it: read, and of sentences alone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.agent.steps import Evidence, Plan, Reader
from engine.question.turn import Question


async def readable(question: Question, plan: Plan, evidence: Sequence[Evidence], reader: Reader) -> list[Evidence]:
    """Evidence without attribute values; what no reader has seen is read by `reader`. Best first."""
    kept: list[Evidence] = []
    unread = [item.passage for item in evidence if item.relevance <= 0]
    for item in evidence:
        own = tuple(block.id for block in item.passage.blocks if block.id in item.block_ids)
        own = own or tuple(block.id for block in item.passage.blocks[:1])
        if item.relevance > 0 and own:
            kept.append(msgspec.structs.replace(item, block_ids=own))
    if unread:
        kept += await reader.read(question, plan, unread)
    return sorted(kept, key=lambda item: (-item.relevance, -item.passage.score))
