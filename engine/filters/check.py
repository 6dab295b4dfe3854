"""Placeholder for the checked filter tree; see decode, sql and evaluate beside it."""

from __future__ import annotations

from typing import Any, TypeAlias

CheckedFilter: TypeAlias = Any
