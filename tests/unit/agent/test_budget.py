from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.agent.blocks import shown_attributes, to_reading
from engine.agent.budget import Budget
from engine.settings import BudgetSettings
from tests.unit.agent.examples_offline import passage


def test_time_runs_from_the_making_of_the_budget() -> None:
    now = [100.0]
    budget = Budget(BudgetSettings(soft_seconds=45, hard_seconds=55), clock=lambda: now[0])
    now[0] = 130.0
    assert (budget.seconds_to_soft(), budget.seconds_to_hard()) == (15.0, 25.0)
    now[0] = 160.0
    assert (budget.seconds_to_soft(), budget.seconds_to_hard()) == (-15.0, -5.0)


def test_tokens_of_earlier_turns_count() -> None:
    budget = Budget(BudgetSettings(model_tokens=1_000), tokens_spent=900)
    budget.spend_tokens(150)
    assert budget.tokens_left() == -50


def test_queries_left_never_fall_below_zero() -> None:
    budget = Budget(BudgetSettings(queries=2))
    budget.queries_run = 5
    assert budget.queries_left() == 0


@given(st.text(max_size=300), st.integers(0, 50))
def test_every_block_stands_at_its_place_in_the_value(text: str, start: int) -> None:
    value = "#" * start + text
    held = passage(7, text)
    moved = type(held)(
        label=7, document_id="d", attribute="text", start=start, end=start + len(text), text=text, header=""
    )
    reading = to_reading(moved, 1.0, (), {})
    assert all(value[b.start : b.start + len(b.text)] == b.text for b in reading.blocks)
    assert len({b.id for b in reading.blocks}) == len(reading.blocks)


def test_steps_see_short_values_only() -> None:
    document = {"id": "a", "title": "Tunnel", "year": 1990, "body": "x" * 500, "tags": ["a"], "root_document_id": "r"}
    assert shown_attributes(document) == {"title": "Tunnel", "year": 1990}  # pyright: ignore[reportArgumentType]
