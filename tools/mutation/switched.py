"""A plugin of pytest: the engine makes the mistake that the environment names (`whole_runs.py`)."""

from __future__ import annotations

import os

from mutation.engine import Switches

if "CCPERF_MISTAKE" in os.environ:
    NUMBER = int(os.environ["CCPERF_MISTAKE"])
    Switches(NUMBER + 1).switch_on(NUMBER)
