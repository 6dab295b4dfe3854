"""How values of several schemas look on the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

import msgspec

Timestamp: TypeAlias = Annotated[
    str,
    msgspec.Meta(
        description="ISO 8601, UTC, with milliseconds.",
        examples=["2026-01-31T09:30:00.000Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


NOT_BLANK = r"[^\s\x1c-\x1f\x85\ufeff]"
"""Pattern of a text that is not blank; spelled out because languages differ in what they count as white space."""


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and ``Z``; the moment is aware.

    >>> timestamp(datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC))
    '2026-01-31T09:30:00.123Z'
    """
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"
