"""What became of an uploaded file, on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

MOST_LISTED = 1_000


class RefusedPlace(msgspec.Struct, frozen=True):
    """A line, a page or a document of the file that could not be used."""

    place: Annotated[str, msgspec.Meta(description="Where it stands.", examples=["report.pdf:page 3", "shop.csv:17"])]
    reason: str


class FileAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The documents that the file was made into are on disk, and the next search finds them."""

    documents_upserted: Annotated[int, msgspec.Meta(description="Ids written.")]
    documents_deleted: Annotated[
        int, msgspec.Meta(description="Sections and pages that an earlier version of the file held and this does not.")
    ]
    skipped: Annotated[str | None, msgspec.Meta(description="Why the file holds nothing to store, if so.")]
    refused: Annotated[list[RefusedPlace], msgspec.Meta(description=f"At most {MOST_LISTED:,}.")]
    refused_count: int
    notes: Annotated[list[str], msgspec.Meta(description="What was guessed or left out without harm.")]
