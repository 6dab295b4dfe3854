"""What a search takes and gives, as values; `spec`-shaped, no wire code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from engine.errors import InvalidRequest
from engine.model.explain import Explanation
from engine.model.notebook import response_html, response_markdown

Mode = Literal["hybrid", "lexical", "vector", "planned"]
Status = Literal["completed", "failed", "clarification_needed"]

MAX_OBJECTIVE = 2_000
MAX_CONTEXT = 50_000
MAX_RESULTS = 20
MAX_EXCERPTS = 5
MAX_EXCERPT = 1_000
MAX_CLARIFICATIONS = 2


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question asked of one namespace.

    Attributes:
        objective: what is sought; not blank, at most 2,000 characters.
        context: the background of the question; not blank, at most 50,000 characters.
        filters: the caller's filter as JSON; None or ``{}`` for none. ANDed into every query that the search runs.
        include_attributes: adds the source document to each result.
        multiturn: the search may ask back.
    """

    objective: str
    context: str
    filters: Mapping[str, Any] | None = None
    include_attributes: bool = False
    multiturn: bool = False

    def check(self) -> None:
        """Raises `InvalidRequest` when a text is blank or too long."""
        check_text(self.objective, "objective", MAX_OBJECTIVE)
        check_text(self.context, "context", MAX_CONTEXT)


def check_text(text: str, path: str, limit: int) -> None:
    """Raises `InvalidRequest` when `text` is blank or longer than `limit` characters."""
    if not text.strip():
        raise InvalidRequest(f"`{path}` must not be blank.", path=path)
    if len(text) > limit:
        raise InvalidRequest(f"`{path}` has {len(text):,} characters; at most {limit:,} are allowed.", path=path)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A cited finding.

    Attributes:
        finding: one readable sentence: what the document contributes.
        id: the source document's id.
        excerpts: 1–5 verbatim substrings of one attribute value of the document, each at most 1,000 characters.
        attributes: the whole document, when the request asked for it.
    """

    finding: str
    id: str
    excerpts: tuple[str, ...]
    attributes: dict[str, Any] | None = None


class Clarification(msgspec.Struct, frozen=True):
    """A question back to the client; 2–5 options, each taken from the corpus."""

    question: str
    options: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True):
    """Why a session failed; `code` is that of a `QuarryError`."""

    code: str
    message: str


class SearchResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a search, or of one turn of it.

    Attributes:
        synthesis: the answer; ``[1]`` cites the first result. Empty for a clarification or a failure.
        documents_scanned: distinct documents brought up as candidates, over the whole session.
        queries_executed: index queries run, over the whole session.
        explain: how this turn came to its answer; None for a failure. Not part of `/v1`.
    """

    session_id: str
    status: Status
    documents_scanned: int = 0
    queries_executed: int = 0
    synthesis: str = ""
    results: tuple[Result, ...] = ()
    clarification_needed: Clarification | None = None
    error: Failure | None = None
    explain: Explanation | None = None

    def _repr_html_(self) -> str:
        return response_html(self._lines, self.results)

    def _repr_markdown_(self) -> str:
        return response_markdown(self._lines, self.results)

    @property
    def _lines(self) -> list[str]:
        """The answer, or the question back, or why it failed."""
        if self.error is not None:
            return [f"{self.error.code}: {self.error.message}"]
        if (asked := self.clarification_needed) is not None:
            return [asked.question, *(f"{number}. {option}" for number, option in enumerate(asked.options, 1))]
        return [line for line in self.synthesis.split("\n") if line.strip()]
