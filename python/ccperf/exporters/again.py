"""Runs that are simulated again for what they do not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import backends
from ccperf.errors import UsageError
from ccperf.result import Result, run_id

if TYPE_CHECKING:
    from ccperf.backends import Backend


def engine_of(result: Result) -> Backend:
    """The engine, if it is the one that made the run.

    Raises `UsageError` otherwise: its packets may differ.
    """
    engine = backends.get("native")
    made = result.provenance
    if made.backend == engine.name and run_id(result.scenario, engine) != result.id:
        raise UsageError(
            "run",
            f"`{result.id}` was made by ccperf {made.ccperf_version}, engine"
            f" {made.engine_hash[:12]}; this engine's packets may differ. Run it again first",
        )
    return engine
