"""Uploads and deletions on the wire."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

MAX_DOCUMENTS = 10_000

DOCUMENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Document",
    "description": "A JSON object with an `id` and any attributes of your own.",
    "required": ["id"],
    "properties": {
        "id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            "description": "A UUID, or any string of at most 64 characters without control characters.",
        },
        "root_document_id": {"type": "string", "description": "The id of the root that this document is a child of."},
    },
    "additionalProperties": True,
    "examples": [{"id": "a-17", "title": "Quarterly report", "tags": ["finance"], "published": "2026-01-31"}],
}

_DEFINITIONS = {"additionalProperties": {"$ref": "#/components/schemas/AttributeDefinition"}}


class UploadBody(msgspec.Struct, frozen=True):
    """Documents to store.

    The elements are checked where they are stored, so that an error can name the document at fault.
    """

    documents: Annotated[
        list[Any],
        msgspec.Meta(
            description="An id that exists is replaced; of an id twice in one request the last wins.",
            extra_json_schema={"items": {"$ref": "#/components/schemas/Document"}, "maxItems": MAX_DOCUMENTS},
        ),
    ]
    schema: Annotated[
        dict[str, Any] | None,
        msgspec.Meta(
            description="Attribute definitions, merged into those of the namespace; what they leave out is inferred.",
            extra_json_schema={"anyOf": [{"type": "object", **_DEFINITIONS}, {"type": "null"}]},
        ),
    ] = None


class UploadResponse(msgspec.Struct, frozen=True):
    """The documents are on disk, and the next search finds them."""

    documents_upserted: Annotated[int, msgspec.Meta(description="Distinct ids written.")]


class DeleteBody(msgspec.Struct, frozen=True):
    """Exactly one of both lists."""

    document_ids: Annotated[
        list[str] | msgspec.UnsetType,
        msgspec.Meta(description="These documents are removed; their children stay."),
    ] = msgspec.UNSET
    root_document_ids: Annotated[
        list[str] | msgspec.UnsetType,
        msgspec.Meta(description="Each of these roots is removed with every document whose root it is."),
    ] = msgspec.UNSET


class DeleteResponse(msgspec.Struct, frozen=True):
    """Unknown ids are ignored."""

    documents_deleted: Annotated[int, msgspec.Meta(description="Documents that were there and are gone.")]
