"""The engine with a mistake, in place of a judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.errors import RunError
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

NATIVE = backends.get("native")


class Mutant:
    """The engine with a mistake: it takes delayed ACK for granted, or fails altogether."""

    name = "mutant"
    version = "1"

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def available(self) -> str | None:
        return None

    def simulate(
        self, scenario: Scenario, *, packets: Path | None = None, progress: Any = None
    ) -> Recording:
        if self.fails:
            raise RunError("aborted")
        flows = tuple(
            flow.model_copy(update={"tcp": {**flow.tcp, "DelAckCount": "1"}}) if flow.cc else flow
            for flow in scenario.flows
        )
        mutated = scenario.model_copy(update={"flows": flows})
        return NATIVE.simulate(mutated, packets=packets, progress=progress)
