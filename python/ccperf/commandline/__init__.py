"""The published command lines of ccperf: read, run, and written again."""

from __future__ import annotations

from ccperf.commandline.parse import parse
from ccperf.commandline.run import DumbbellRun, FlowOptions, Step

__all__ = ["DumbbellRun", "FlowOptions", "Step", "parse"]
