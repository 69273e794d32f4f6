"""What every test shares: how much chance there is in them."""

from __future__ import annotations

from hypothesis import settings

# The same examples in every run, so that a failure is always the change's. To look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
