"""The count of faults, and its table at the end of a long run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.extent import LONG
from tests.faults.tally import PROPERTY, Tally, table


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    return Tally(record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for held in terminalreporter.stats.values() for report in held]
    trials = [
        value
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if LONG and trials:
        terminalreporter.section("faults")
        for line in table(trials):
            terminalreporter.write_line(line)
