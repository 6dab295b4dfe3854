"""Passages and lists of documents on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from api.schemas.wire import NOT_BLANK
from engine import Hit

MAX_HITS = 1_000
MAX_PAGE = 1_000
DEFAULT_PAGE = 100

Filters: TypeAlias = Annotated[
    dict[str, Any] | None,
    msgspec.Meta(
        description="Only documents that match; see the filter language.",
        examples=[{"source": "TechCrunch"}, {"year": {"$gte": 2020}}],
    ),
]


class RetrieveBody(msgspec.Struct, frozen=True, kw_only=True):
    """A query for passages."""

    text: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=50_000,
            pattern=NOT_BLANK,
            description="Words or a sentence; never a query language.",
            examples=["ferry cancelled by a storm"],
        ),
    ]
    k: Annotated[int, msgspec.Meta(ge=1, le=MAX_HITS, description="At most so many passages.")] = 10
    filters: Filters = None
    mode: Annotated[
        Literal["hybrid", "lexical", "vector", "planned"],
        msgspec.Meta(description="Both legs, one of them, or the queries that a search would plan."),
    ] = "hybrid"
    include_attributes: Annotated[bool, msgspec.Meta(description="Add the source document to each hit.")] = False


class HitObject(msgspec.Struct, frozen=True, kw_only=True):
    """A passage: `text` is `document[attribute][start:end]` in code points."""

    document_id: str
    attribute: Annotated[str, msgspec.Meta(description="An element of a list is `name[index]`.")]
    start: int
    end: int
    text: str
    score: Annotated[float, msgspec.Meta(description="Larger is better; comparable within one answer only.")]
    lexical_score: Annotated[float, msgspec.Meta(description="BM25; 0 when no word of the query stands there.")]
    vector_score: Annotated[float, msgspec.Meta(description="Cosine; 0 when the vectors did not bring it up.")]
    attributes: Annotated[
        dict[str, Any] | msgspec.UnsetType, msgspec.Meta(description="The whole document, when it was asked for.")
    ] = msgspec.UNSET


class HitList(msgspec.Struct, frozen=True):
    """Passages, best first."""

    hits: list[HitObject]

    @classmethod
    def of(cls, hits: list[Hit], documents: Mapping[str, dict[str, Any]]) -> HitList:
        """`hits` with those of `documents` that are theirs."""
        return cls(
            [
                HitObject(
                    document_id=hit.document_id,
                    attribute=hit.attribute,
                    start=hit.start,
                    end=hit.end,
                    text=hit.text,
                    score=hit.score,
                    lexical_score=hit.lexical_score,
                    vector_score=hit.vector_score,
                    attributes=documents.get(hit.document_id, msgspec.UNSET),
                )
                for hit in hits
            ]
        )


class ListBody(msgspec.Struct, frozen=True, kw_only=True):
    """Which documents to list."""

    filters: Filters = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE, description="At most so many.")] = DEFAULT_PAGE
    cursor: Annotated[str | None, msgspec.Meta(description="The `next_cursor` of the page before.")] = None


class DocumentList(msgspec.Struct, frozen=True):
    """Documents in the order of upload; `next_cursor` is null on the last page."""

    documents: Annotated[
        list[dict[str, Any]],
        msgspec.Meta(extra_json_schema={"items": {"$ref": "#/components/schemas/Document"}}),
    ]
    next_cursor: str | None
