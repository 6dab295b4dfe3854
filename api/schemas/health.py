"""What the health routes say."""

from __future__ import annotations

from typing import Literal

import msgspec


class Health(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(msgspec.Struct, frozen=True):
    """Storage is open, models are loaded, and requests are taken."""

    status: Literal["ready"] = "ready"
