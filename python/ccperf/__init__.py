"""ccperf: evaluate congestion control on an engine that is packet-identical to ns-3.

The names below are loaded on first use, so that ``import ccperf`` and the command line start
without NumPy.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccperf.algorithms import CongestionControl, QueueDisc
    from ccperf.api import run, simulate
    from ccperf.recording import Recording
    from ccperf.result import Result
    from ccperf.scenario import Scenario
    from ccperf.store import Store

try:
    __version__ = version("ccperf")
except PackageNotFoundError:  # a checkout that was never installed
    __version__ = "0+unknown"

__all__ = [
    "CongestionControl",
    "QueueDisc",
    "Recording",
    "Result",
    "Scenario",
    "Store",
    "__version__",
    "run",
    "simulate",
]

_HOME = {
    "CongestionControl": "ccperf.algorithms",
    "QueueDisc": "ccperf.algorithms",
    "Recording": "ccperf.recording",
    "Result": "ccperf.result",
    "Scenario": "ccperf.scenario",
    "Store": "ccperf.store",
    "run": "ccperf.api",
    "simulate": "ccperf.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ccperf' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
