"""Wall time: injected, UTC, in whole milliseconds; stored as milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Tells the time as an aware datetime."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def utc_now() -> datetime:
    """The time of the machine."""
    return datetime.now(UTC)


def to_ms(moment: datetime) -> int:
    """Milliseconds since 1970, rounded down.

    >>> to_ms(datetime(1970, 1, 1, 0, 0, 1, 2999, tzinfo=UTC))
    1002
    """
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """The moment, in UTC."""
    return _EPOCH + milliseconds * _MILLISECOND
