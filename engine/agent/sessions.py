"""What a search session remembers between turns, as one value and as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.agent.steps import Evidence, PlannedQuery
from engine.errors import SessionFailed
from engine.model.search import SearchRequest
from engine.question.turn import Turn

MAX_EVIDENCE = 60
"""Passages of evidence kept for the next turn, best first."""

MAX_STATE = 2**20
"""Bytes of one stored session."""


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a continuation needs.

    Attributes:
        narrowing: filter JSON that answers to clarifications settled.
        pending: option → narrowing of the clarification that waits for an answer; None when none does.
        asked: clarifications so far.
        scanned: ids of the documents that any query brought up.
        generation: of the namespace when the evidence was read.
    """

    request: SearchRequest
    turns: tuple[Turn, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    executed: tuple[PlannedQuery, ...] = ()
    narrowing: Mapping[str, Any] | None = None
    pending: Mapping[str, Mapping[str, Any] | None] | None = None
    asked: int = 0
    scanned: tuple[str, ...] = ()
    queries_executed: int = 0
    tokens_spent: int = 0


_DECODER = msgspec.msgpack.Decoder(SessionState)
_JSON_DECODER = msgspec.json.Decoder(SessionState)


def encode_state(state: SessionState) -> bytes:
    """The state as bytes, for the session store; at most `MAX_STATE` where that leaves out evidence and old turns.

    The worst evidence goes first, then the oldest turns: what goes is searched for again.
    """
    raw = _encode(state)
    while len(raw) > MAX_STATE and (state.evidence or len(state.turns) > 1 or state.scanned):
        if state.evidence:
            state = msgspec.structs.replace(state, evidence=state.evidence[: len(state.evidence) // 2])
        elif len(state.turns) > 1:
            state = msgspec.structs.replace(state, turns=state.turns[len(state.turns) // 2 :])
        else:
            state = msgspec.structs.replace(state, scanned=())
        raw = _encode(state)
    return raw


def _encode(state: SessionState) -> bytes:
    try:
        return msgspec.msgpack.encode(state)
    except OverflowError:
        # A number in a filter beyond 64 bits, which JSON holds.
        return msgspec.json.encode(state)


def decode_state(raw: bytes) -> SessionState:
    """Raises `SessionFailed` when an older version wrote what this one cannot read."""
    try:
        # No state in msgpack begins with this byte, which is a number there.
        return _JSON_DECODER.decode(raw) if raw[:1] == b"{" else _DECODER.decode(raw)
    except msgspec.DecodeError as error:
        raise SessionFailed from error
