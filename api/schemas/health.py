"""What the health routes say."""

from __future__ import annotations

from typing import Literal

import msgspec


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(msgspec.Struct, frozen=True):
    """Storage is open, models are loaded, and requests are taken.

    Attributes:
        notices: what the installation goes without, such as the graph over vectors, a sentence each;
            absent when nothing is missing.
    """

    status: Literal["ready"] = "ready"
    notices: list[str] | msgspec.UnsetType = msgspec.UNSET
