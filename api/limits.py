"""How much at once: requests a minute, searches under way, bytes of uploads and answers in memory.

Everything here runs on the event loop, so nothing needs a lock. `now` is a monotonic clock in seconds.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from api.schemas.errors import ApiError

_KEPT = 10_000


class RateLimit:
    """A token bucket for each key: `per_minute` tokens flow in evenly, and as many may be saved up.

    Args:
        per_minute: 0 turns it off.
    """

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._size = float(per_minute)
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, key_id: str) -> None:
        """Take one token. Raises `ApiError` `rate_limited` with ``Retry-After`` when there is none."""
        if not self._size:
            return
        now = self._now()
        tokens, filled_at = self._buckets.get(key_id, (self._size, now))
        tokens = min(self._size, tokens + (now - filled_at) * self._per_second)
        if tokens < 1.0:
            self._buckets[key_id] = (tokens, now)
            wait = math.ceil((1.0 - tokens) / self._per_second)
            raise ApiError(
                "rate_limited", "This API key sends requests too fast.", headers={"Retry-After": str(max(1, wait))}
            )
        self._buckets[key_id] = (tokens - 1.0, now)
        self._buckets.move_to_end(key_id)
        if len(self._buckets) > _KEPT:
            # The least recently used bucket is the fullest; a full one and a missing one are the same.
            self._buckets.popitem(last=False)


class SearchSlots:
    """How many searches run at once, for each key and in all.

    Args:
        per_key: 0 for no limit.
        total: 0 for no limit.
    """

    def __init__(self, per_key: int, total: int) -> None:
        self._per_key = per_key
        self._total = total
        self._running: Counter[str] = Counter()

    @property
    def running(self) -> int:
        """Searches under way."""
        return self._running.total()

    def take(self, key_id: str) -> Callable[[], None]:
        """Begin a search; call what this gives when it ends, once or more often.

        Raises:
            ApiError: `rate_limited` when the key has too many under way, `overloaded` when the server has.
        """
        if self._per_key and self._running[key_id] >= self._per_key:
            raise ApiError(
                "rate_limited", "This API key has too many searches under way.", headers={"Retry-After": "1"}
            )
        if self._total and self.running >= self._total:
            raise ApiError("overloaded", "The server has too many searches under way.")
        self._running[key_id] += 1
        held = True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                self._running[key_id] -= 1
                if not self._running[key_id]:
                    del self._running[key_id]

        return release


class HeldMemory:
    """Bytes of bodies that are held at once, so that many large ones cannot fill the memory.

    Args:
        refusal: what is said to a request that would be too much.
    """

    def __init__(self, most: int, refusal: str) -> None:
        self._most = most
        self._refusal = refusal
        self.held = 0

    def hold(self, size: int) -> None:
        """Account for `size` more bytes. Raises `ApiError` `overloaded` when that is too much."""
        # A lone body may always be as large as bodies may be.
        if self.held and self.held + size > self._most:
            raise ApiError("overloaded", self._refusal)
        self.held += size

    def free(self, size: int) -> None:
        """The bytes are not held any more."""
        self.held -= size
