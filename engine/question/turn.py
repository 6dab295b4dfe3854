"""The question of a turn: the request with what the session and the namespace add, read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from engine.model.search import SearchRequest
from engine.question.followup import Asked, asked_in_turn
from engine.question.terms import AskedTerms, asked_terms


class Turn(msgspec.Struct, frozen=True):
    """An earlier exchange of the session: what the client said and what came back."""

    message: str
    synthesis: str


class Question(msgspec.Struct, frozen=True, dict=True):
    """The request with what the session adds.

    Attributes:
        turns: earlier turns, oldest first.
        message: the client's latest message of a continuation; empty on the first turn.
        narrowing: what earlier clarifications settled, as filter JSON; None for nothing.
        rarity: IDF in the namespace of the index's terms of everything asked so far; empty where it is not known.
        filterable: attributes that a filter may name.
        documents: how many the search may see; 0 where it is not known.
        languages: passages of the namespace by language.
        settled: words of the question that became filters which documents satisfy, and count no more.
        is_alone: the latest message turned out to have a subject of its own.
    """

    request: SearchRequest
    turns: tuple[Turn, ...] = ()
    message: str = ""
    narrowing: Mapping[str, Any] | None = None
    rarity: Mapping[str, float] = {}
    filterable: tuple[str, ...] = ()
    documents: int = 0
    languages: Mapping[str, int] = {}
    settled: tuple[str, ...] = ()
    is_alone: bool = False

    @cached_property
    def asked(self) -> Asked:
        """What this turn asks, read with what came before it."""
        if self.is_alone:
            return Asked(self.message, self.message, self.message)
        messages = [*(turn.message for turn in self.turns[1:]), self.message]
        said = [turn.synthesis for turn in self.turns] or [""]
        return asked_in_turn(self.request.objective, list(zip(said, messages, strict=True)))

    @property
    def text(self) -> str:
        """What this turn answers, readable on its own."""
        return self.asked.text

    @cached_property
    def terms(self) -> AskedTerms:
        """The words of `text` that are not settled, read once a turn."""
        text = self.text
        for words in self.settled:
            text = text.replace(words, " ")
        return asked_terms(text, self.rarity, self.documents, self.languages, self.asked.now)

    def terms_of(self, text: str) -> AskedTerms:
        """The words of a part of the question, or of a query made of it; each is read once a turn."""
        read = self._read.get(text)
        if read is None:
            read = self._read[text] = asked_terms(text, self.rarity, self.documents, self.languages)
        return read

    @cached_property
    def _read(self) -> dict[str, AskedTerms]:
        return {}
