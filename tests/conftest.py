"""Hypothesis profiles, the count of faults, and the signal that programs under test are interrupted with."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from tests.faults.extent import LONG
from tests.faults.tally import PROPERTY, Tally, table

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, print_blob=True, derandomize=True)
settings.register_profile(
    "nightly", max_examples=5_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.getenv("HYPOTHESIS_PROFILE", "ci" if os.getenv("CI") else "dev"))

# A shell without job control starts background commands deaf to Ctrl-C, and so would be every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
