"""The record of usage: bounded, and never in anybody's way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api import usage
from api.usage import FILE, UsageLog, UsageNote


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> Iterator[UsageLog]:
    made = UsageLog(30, clock)
    made.open(tmp_path)
    yield made
    made.close()


def note(log: UsageLog, *names: str, company: int = 1) -> None:
    for name in names:
        log.add(company, UsageNote("retrieve", "n"), name, 0.1)


def ids(log: UsageLog, company: int = 1) -> list[str]:
    return [event.request_id for event in log.page(company, 100, None)]


def test_events_come_back_newest_first_page_by_page_and_each_company_has_its_own(log: UsageLog) -> None:
    note(log, "a", "b", "c")
    note(log, "d", company=2)
    first = log.page(1, 2, None)
    assert [event.request_id for event in first] == ["c", "b"]
    assert [event.request_id for event in log.page(1, 2, first[-1].id)] == ["a"]
    assert (ids(log, 2), log.find(1, "d"), log.find(2, "d")) == (["d"], None, log.page(2, 1, None)[0])


def test_what_is_too_old_or_too_much_goes(log: UsageLog, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    note(log, "old")
    clock.now += timedelta(days=29)
    note(log, "a", "b", "c")
    log.prune()
    assert ids(log) == ["c", "b", "a", "old"]
    clock.now += timedelta(days=2)
    log.prune()
    assert ids(log) == ["c", "b", "a"]
    monkeypatch.setattr(usage, "MOST_EVENTS", 2)
    note(log, "x", company=2)
    log.prune()
    assert (ids(log), ids(log, 2)) == (["c", "b"], ["x"])


def test_what_was_noted_is_there_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    log = UsageLog(30, clock)
    log.open(tmp_path)
    note(log, "a")
    log.close()
    again = UsageLog(30, clock)
    again.open(tmp_path)
    assert ids(again) == ["a"]
    again.close()


@pytest.mark.parametrize("damage", [b"this is no database " * 100, None])
def test_a_record_that_cannot_be_opened_costs_nothing_else(tmp_path: Path, damage: bytes | None) -> None:
    if damage is None:
        (tmp_path / FILE).mkdir()
    else:
        (tmp_path / FILE).write_bytes(damage)
    log = UsageLog(30)
    log.open(tmp_path)
    note(log, "a")
    assert ids(log) == []
    log.close()


def test_without_days_there_is_no_file(tmp_path: Path) -> None:
    log = UsageLog(0)
    log.open(tmp_path)
    note(log, "a")
    log.close()
    assert list(tmp_path.iterdir()) == []
