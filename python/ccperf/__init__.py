"""ccperf: evaluate congestion control on an engine that is packet-identical to ns-3.

* `run` makes one run: a figure in a notebook, its metrics, its recording.
* `grid` makes many: tables for pandas, comparisons, figures.
* `simulate` runs a network of your own, a `Scenario`.
* `bench` runs the whole catalogue; `score` rates an algorithm in one number; `compare` says what
  databases show.
* `CongestionControl`, `QueueDisc`, `LoadBalancer`, `HostBalancer` and `Scheduler` are the base
  classes of your own algorithms.

docs/python.md shows them. They are loaded on first use, so that ``import ccperf`` and the
command line start without NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccperf.algorithms import (
        CongestionControl,
        HostBalancer,
        LoadBalancer,
        QueueDisc,
        Scheduler,
    )
    from ccperf.api.many import bench, compare, grid
    from ccperf.api.one import run, simulate
    from ccperf.api.runs import Runs
    from ccperf.api.score import Score, score
    from ccperf.runs.recording import Recording
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario
    from ccperf.store import Store

    INTERFACE: int
    __version__: str

__all__ = [
    "INTERFACE",
    "CongestionControl",
    "HostBalancer",
    "LoadBalancer",
    "QueueDisc",
    "Recording",
    "Result",
    "Runs",
    "Scenario",
    "Scheduler",
    "Score",
    "Store",
    "__version__",
    "bench",
    "compare",
    "grid",
    "run",
    "score",
    "simulate",
]

_HOME = {
    "CongestionControl": "ccperf.algorithms",
    "HostBalancer": "ccperf.algorithms",
    "LoadBalancer": "ccperf.algorithms",
    "QueueDisc": "ccperf.algorithms",
    "Scheduler": "ccperf.algorithms",
    "Recording": "ccperf.runs.recording",
    "Result": "ccperf.runs.result",
    "Runs": "ccperf.api.runs",
    "Scenario": "ccperf.scenario",
    "Score": "ccperf.api.score",
    "Store": "ccperf.store",
    "bench": "ccperf.api.many",
    "compare": "ccperf.api.many",
    "grid": "ccperf.api.many",
    "run": "ccperf.api.one",
    "score": "ccperf.api.score",
    "simulate": "ccperf.api.one",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Of the engine, which is built with it: importlib.metadata takes long to load.
        value = importlib.import_module("ccperf._native").VERSION
    elif name == "INTERFACE":
        value = importlib.import_module("ccperf._native").INTERFACE
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'ccperf' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
