"""What one search turn may use: time, queries, rounds, model tokens."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.settings import BudgetSettings


class Budget:
    """Counts down one turn; satisfies `TurnBudget`. Used by one task at a time, read from many.

    Args:
        tokens_spent: model tokens that earlier turns of the session used.
        clock: monotonic seconds.
    """

    def __init__(
        self, settings: BudgetSettings, *, tokens_spent: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings = settings
        self.tokens_spent = tokens_spent
        self.queries_run = 0
        self._clock = clock
        self._begin = clock()

    def seconds_to_soft(self) -> float:
        """Seconds until searching stops and what is there is answered; may be negative."""
        return self._begin + self.settings.soft_seconds - self._clock()

    def seconds_to_hard(self) -> float:
        """Seconds until the turn fails with `search_timeout`; may be negative."""
        return self._begin + self.settings.hard_seconds - self._clock()

    def tokens_left(self) -> int:
        """Model tokens that the session may still use; may be negative."""
        return self.settings.model_tokens - self.tokens_spent

    def spend_tokens(self, tokens: int) -> None:
        """Count the tokens of one model call."""
        self.tokens_spent += tokens

    def queries_left(self) -> int:
        """Index queries that the turn may still run."""
        return max(0, self.settings.queries - self.queries_run)
