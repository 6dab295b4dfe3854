"""Counts of model calls for metrics: numbers only, no text."""

from __future__ import annotations

import threading
from collections import Counter

from engine.llm.protocol import TokenUsage


class CallCounters:
    """Calls by step and outcome, tokens by model, since the process started. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._tokens: dict[str, TokenUsage] = {}

    def count(self, step: str, outcome: str) -> None:
        """`outcome` is ``ok`` or the `code` of the error that the call ended with."""
        with self._lock:
            self._calls[step, outcome] += 1

    def spend(self, model: str, usage: TokenUsage) -> None:
        """Add what one reply cost, whatever became of it."""
        with self._lock:
            self._tokens[model] = self._tokens.get(model, TokenUsage()) + usage

    def calls(self) -> dict[tuple[str, str], int]:
        """Calls by ``(step, outcome)``."""
        with self._lock:
            return dict(self._calls)

    def tokens(self) -> dict[str, TokenUsage]:
        """Tokens by model name."""
        with self._lock:
            return dict(self._tokens)
