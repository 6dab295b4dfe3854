"""Searches on the wire."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from api.schemas.errors import ErrorCode
from api.schemas.wire import NOT_BLANK
from engine import SearchResponse

MAX_MESSAGE = 2_000


class SearchBody(msgspec.Struct, frozen=True, kw_only=True):
    """A question to one namespace."""

    objective: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=2_000,
            pattern=NOT_BLANK,
            description="What is sought, in one sentence.",
            examples=["Which products did the company launch in 2023?"],
        ),
    ]
    context: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=50_000,
            pattern=NOT_BLANK,
            description="The background of the question: terms, constraints, what is known already.",
            examples=["Preparing a market overview; only launches with a date matter."],
        ),
    ]
    stream: Annotated[bool, msgspec.Meta(description="Answer with server-sent events.")] = False
    filters: Annotated[
        dict[str, Any] | None,
        msgspec.Meta(
            description="Restricts the search to documents that match; see the filter language.",
            examples=[{"source": "TechCrunch"}, {"$and": [{"year": {"$gte": 2020}}, {"tag": {"$in": ["a", "b"]}}]}],
        ),
    ] = None
    include_attributes: Annotated[bool, msgspec.Meta(description="Add the source document to each result.")] = False
    multiturn: Annotated[bool, msgspec.Meta(description="The search may ask back.")] = False


class ContinueBody(msgspec.Struct, frozen=True, kw_only=True):
    """The next turn of a search session."""

    message: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MAX_MESSAGE,
            pattern=NOT_BLANK,
            description="The answer to the service's question, or a follow-up.",
            examples=["The annual report"],
        ),
    ]
    stream: Annotated[bool, msgspec.Meta(description="Answer with server-sent events.")] = False
    include_attributes: Annotated[
        bool | msgspec.UnsetType,
        msgspec.Meta(description="Add the source document to each result; as in the first request when left out."),
    ] = msgspec.UNSET


class ResultObject(msgspec.Struct, frozen=True, kw_only=True):
    """A cited finding; `[1]` in the synthesis is the first of the list."""

    finding: str
    id: Annotated[str, msgspec.Meta(description="Id of the source document.")]
    excerpts: Annotated[list[str], msgspec.Meta(description="Verbatim from one attribute value of the document.")]
    attributes: Annotated[
        dict[str, Any] | msgspec.UnsetType, msgspec.Meta(description="The whole document, when it was asked for.")
    ] = msgspec.UNSET


class ClarificationObject(msgspec.Struct, frozen=True):
    """A question back."""

    question: str
    options: list[str]


class FailureObject(msgspec.Struct, frozen=True):
    """Why a search failed."""

    code: ErrorCode
    message: str


class StatusObject(msgspec.Struct, frozen=True):
    """Progress, in words for people."""

    message: str


class _Session(msgspec.Struct, frozen=True, kw_only=True, tag_field="status"):
    session_id: Annotated[str, msgspec.Meta(examples=["sess_0123456789abcdefABCDEF"])]
    documents_scanned: Annotated[int, msgspec.Meta(description="Distinct documents that were candidates.")]
    queries_executed: Annotated[int, msgspec.Meta(description="Index queries that were run.")]
    synthesis: Annotated[str, msgspec.Meta(description="The answer, with markers such as `[1]` that cite `results`.")]
    results: list[ResultObject]


class Completed(_Session, frozen=True, kw_only=True, tag="completed"):
    """The search ended. Nothing found is a completed search with no results."""


class ClarificationNeeded(_Session, frozen=True, kw_only=True, tag="clarification_needed"):
    """The search asks back; `results` and `synthesis` are empty."""

    clarification_needed: ClarificationObject


class Failed(_Session, frozen=True, kw_only=True, tag="failed"):
    """The search began and could not finish; `results` and `synthesis` are empty."""

    error: FailureObject


SessionObject: TypeAlias = Completed | ClarificationNeeded | Failed


def session_object(response: SearchResponse, failure: FailureObject | None = None) -> SessionObject:
    """The end of a search as it looks on the wire.

    Args:
        failure: why it failed, in wire codes; given when, and only when, the status is ``failed``.
    """
    common: dict[str, Any] = {
        "session_id": response.session_id,
        "documents_scanned": response.documents_scanned,
        "queries_executed": response.queries_executed,
    }
    if failure is not None:
        return Failed(**common, synthesis="", results=[], error=failure)
    if response.clarification_needed is not None:
        asked = response.clarification_needed
        clarification = ClarificationObject(asked.question, list(asked.options))
        return ClarificationNeeded(**common, synthesis="", results=[], clarification_needed=clarification)
    results = [
        ResultObject(
            finding=result.finding,
            id=result.id,
            excerpts=list(result.excerpts),
            attributes=msgspec.UNSET if result.attributes is None else result.attributes,
        )
        for result in response.results
    ]
    return Completed(**common, synthesis=response.synthesis, results=results)
