"""Values of attributes on the wire."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec


class ValueCount(msgspec.Struct, frozen=True):
    """One value, and how many documents hold it."""

    value: Annotated[Any, msgspec.Meta(description="As filters take it; a datetime is ISO 8601 in UTC.")]
    document_count: int


class AttributeValues(msgspec.Struct, frozen=True):
    """Values of one attribute, the most frequent first."""

    values: list[ValueCount]
