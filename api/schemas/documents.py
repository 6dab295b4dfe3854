"""Uploads and deletions on the wire."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

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
            "pattern": "^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            "description": "A UUID, or at most 64 characters of any kind but control characters, and not `.` or `..`.",
        },
        "root_document_id": {
            "type": ["string", "null"],
            "description": "The id of the root that this document is a child of.",
        },
    },
    "propertyNames": {"minLength": 1, "maxLength": 128, "pattern": "^[^$]"},
    "examples": [{"id": "a-17", "title": "Quarterly report", "tags": ["finance"], "published": "2026-01-31"}],
}


class UploadBody(msgspec.Struct, frozen=True):
    """Documents to store, and what is known of their attributes."""

    # Documents and definitions are checked where they are stored, so that an error can name the one at fault.
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
            description="Attribute definitions, merged into those of the namespace; what they leave out is inferred."
        ),
    ] = None


class UploadResponse(msgspec.Struct, frozen=True):
    """The documents are on disk, and the next search finds them."""

    documents_upserted: Annotated[int, msgspec.Meta(description="Distinct ids written.")]


Ids: TypeAlias = Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_DOCUMENTS)]


class DeleteBody(msgspec.Struct, frozen=True):
    """Exactly one of both lists: ids of documents, whose children stay, or of roots, whose children go with them."""

    document_ids: Ids | msgspec.UnsetType = msgspec.UNSET
    root_document_ids: Ids | msgspec.UnsetType = msgspec.UNSET


class DeleteResponse(msgspec.Struct, frozen=True):
    """Unknown ids are ignored."""

    documents_deleted: Annotated[int, msgspec.Meta(description="Documents that were there and are gone.")]
