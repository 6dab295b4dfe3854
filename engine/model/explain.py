"""How a search came to its answer, for whoever tunes or judges it; never part of `/v1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class ExplainedQuery(msgspec.Struct, frozen=True):
    """One index query of a turn.

    Attributes:
        narrowing: filter JSON that it ran under besides the caller's; None for none.
        hits: passages that it brought up, at most as many as a query asks for.
        new: those of them that no query before it had brought up.
    """

    text: str
    mode: str
    round: int
    hits: int
    new: int
    narrowing: Mapping[str, Any] | None = None


class Removal(msgspec.Struct, frozen=True):
    """A part of a draft that did not leave.

    Attributes:
        part: ``sentence``, ``finding``, ``caveat``, ``missing``, ``question`` or ``option``.
        reasons: all that was found wrong with it.
        mended: a repair put other words in its place.
    """

    part: str
    text: str
    reasons: tuple[str, ...]
    mended: bool = False


class ModelCall(msgspec.Struct, frozen=True):
    """One call of a language model; tokens as the service counts them."""

    step: str
    outcome: str
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a search.

    Attributes:
        parts: what the answer had to cover.
        dropped_conditions: conditions that a plan wanted and the schema does not allow, readable.
        read: passages that were read.
        evidence: passages of which sentences were kept.
        checked: statements that were held against their sources.
        degraded: steps that rules did because the model could not, with the reason.
    """

    parts: tuple[str, ...] = ()
    shape: str = ""
    queries: tuple[ExplainedQuery, ...] = ()
    dropped_conditions: tuple[str, ...] = ()
    rounds: int = 0
    read: int = 0
    evidence: int = 0
    checked: int = 0
    removed: tuple[Removal, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Of all calls, input and output together."""
        return sum(call.input + call.output + call.cache_read + call.cache_write for call in self.calls)
