"""Queries as a model writes them → queries that may run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from engine.agent.claude.conditions import Condition, to_narrowing
from engine.agent.claude.fence import one_line
from engine.agent.steps import Corpus, PlannedQuery, QueryMode

MAX_QUERY = 300


class QueryReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`sub_question` counts from 1; 0 is the whole objective."""

    text: str
    sub_question: int
    mode: QueryMode
    conditions: tuple[Condition, ...]


def usable_queries(
    replies: Sequence[QueryReply],
    *,
    limit: int,
    sub_questions: int,
    executed: Iterable[PlannedQuery],
    corpus: Corpus | None,
) -> tuple[tuple[PlannedQuery, ...], tuple[str, ...]]:
    """At most `limit` of them, none blank, none twice, none that is in `executed`; and conditions that were dropped.

    Args:
        sub_questions: how many there are; a number beyond them means the whole objective.
        corpus: None drops all conditions.
    """
    seen = {identity(query) for query in executed}
    usable: list[PlannedQuery] = []
    dropped: list[str] = []
    for reply in replies:
        text = one_line(reply.text)[:MAX_QUERY].strip()
        narrowing, unusable = (None, ()) if corpus is None else to_narrowing(reply.conditions, corpus)
        dropped += unusable
        query = PlannedQuery(
            text=text,
            sub_question=reply.sub_question - 1 if 1 <= reply.sub_question <= sub_questions else -1,
            narrowing=narrowing,
            mode=reply.mode,
        )
        if text and identity(query) not in seen:
            seen.add(identity(query))
            usable.append(query)
        if len(usable) == limit:
            break
    return tuple(usable), tuple(dict.fromkeys(dropped))


def identity(query: PlannedQuery) -> tuple[str, bytes]:
    """Equal for queries that bring up the same: words without regard to case and order, and the narrowing."""
    words = " ".join(sorted(query.text.casefold().split()))
    return words, msgspec.json.encode(query.narrowing, order="sorted")
