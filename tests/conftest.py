"""What every test shares: how much chance there is in them."""

from __future__ import annotations

import os

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
