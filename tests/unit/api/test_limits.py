"""Limits, under a clock of the test's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits import HeldMemory, RateLimit, SearchSlots
from api.schemas.errors import ApiError


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_minutes_worth_may_be_spent_at_once_and_flows_back_evenly() -> None:
    clock = Clock()
    rate = RateLimit(60, clock)
    for _ in range(60):
        rate.spend("a")
    with pytest.raises(ApiError) as refused:
        rate.spend("a")
    assert (refused.value.code, refused.value.headers) == ("rate_limited", {"Retry-After": "1"})
    clock.seconds += 1.0
    rate.spend("a")
    with pytest.raises(ApiError):
        rate.spend("a")


def test_retry_after_is_when_the_next_request_passes() -> None:
    clock = Clock()
    rate = RateLimit(3, clock)
    for _ in range(3):
        rate.spend("a")
    with pytest.raises(ApiError) as refused:
        rate.spend("a")
    assert refused.value.headers == {"Retry-After": "20"}
    clock.seconds += 20.0
    rate.spend("a")


@given(st.lists(st.floats(0, 100), max_size=50), st.integers(1, 30))
def test_no_more_passes_than_was_saved_and_flowed_in(waits: list[float], per_minute: int) -> None:
    clock = Clock()
    rate = RateLimit(per_minute, clock)
    passed = 0
    for wait in waits:
        clock.seconds += wait
        try:
            rate.spend("a")
            passed += 1
        except ApiError:
            pass
    assert passed <= per_minute + clock.seconds * per_minute / 60 + 1e-6


def test_keys_do_not_share_a_rate_and_zero_is_no_limit() -> None:
    rate = RateLimit(1, Clock())
    rate.spend("a")
    rate.spend("b")
    unlimited = RateLimit(0, Clock())
    for _ in range(1_000):
        unlimited.spend("a")


def test_buckets_of_many_keys_are_forgotten_only_when_they_are_full_again() -> None:
    clock = Clock()
    rate = RateLimit(1, clock)
    for n in range(20_000):
        clock.seconds += 1.0
        rate.spend(f"key-{n}")
    assert len(rate._buckets) <= 10_000


def test_searches_are_counted_by_key_and_in_all() -> None:
    slots = SearchSlots(per_key=2, total=3)
    first = slots.take("a")
    slots.take("a")
    with pytest.raises(ApiError, match="too many searches") as refused:
        slots.take("a")
    assert (refused.value.code, refused.value.headers) == ("rate_limited", {"Retry-After": "1"})
    slots.take("b")
    with pytest.raises(ApiError) as full:
        slots.take("c")
    assert full.value.code == "overloaded"
    first()
    first()
    assert slots.running == 2
    slots.take("c")


def test_the_memory_of_uploads_is_bounded_but_one_upload_always_fits() -> None:
    memory = HeldMemory(100, "full")
    memory.hold(150)
    with pytest.raises(ApiError) as refused:
        memory.hold(1)
    assert refused.value.code == "overloaded"
    memory.free(150)
    memory.hold(60)
    memory.hold(40)
    assert memory.held == 100
