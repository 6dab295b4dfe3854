"""Hypothesis profiles, and the signal that programs under test are interrupted with."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, print_blob=True, derandomize=True)
settings.register_profile(
    "nightly", max_examples=5_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.getenv("HYPOTHESIS_PROFILE", "ci" if os.getenv("CI") else "dev"))

# A shell without job control starts background commands deaf to Ctrl-C, and so would be every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
