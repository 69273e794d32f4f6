"""What every test shares: how much chance there is in them, and that they end."""

from __future__ import annotations

import faulthandler
import os
import sys

from hypothesis import HealthCheck, settings

# The same examples in every run, so that a failure is always the change's. CI draws others each
# time, by a seed that it prints. To look for more: pytest --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile(
    "drawn",
    derandomize=False,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("drawn" if "CCPERF_TEST_SEED" in os.environ else "repeatable")

#: Seconds within which Python has to end after the last test.
LEAVING_S = 60


def pytest_unconfigure() -> None:
    """A thread that a test has left must not keep the process: it is named instead."""
    faulthandler.dump_traceback_later(LEAVING_S, exit=True, file=sys.__stderr__)
