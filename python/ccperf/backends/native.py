"""This project's engine, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ccperf import __version__, _native
from ccperf.errors import RunError
from ccperf.user_code.content import Contents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.backends import Progress
    from ccperf.recording import Recording
    from ccperf.scenario import Scenario

#: The run is handed back to Python this often, for progress and for Ctrl-C.
STEPS = 100


class Native:
    """Runs scenarios on the engine; other threads go on meanwhile."""

    name = "native"

    @property
    def version(self) -> str:
        return f"{__version__}+{_native.ENGINE_HASH[:12]}"

    def available(self) -> str | None:
        return None

    def prepare(self, scenario: Scenario) -> None:
        Contents().of(scenario.user_code, self.name)

    def simulate(
        self,
        scenario: Scenario,
        *,
        packets: Path | None = None,
        progress: Progress | None = None,
        user_code: Mapping[str, str] | None = None,
    ) -> Recording:
        from ccperf.recording import Recording

        lowered = scenario.lowered()
        if not user_code:
            user_code = Contents().of(scenario.user_code, self.name)
        if user_code:
            from ccperf.backends import sandbox

            found = sandbox.simulate(lowered, user_code, packets=packets, progress=progress)
            if progress:
                progress(1.0)
            return Recording(found)
        try:
            simulation = _native.Simulation(lowered, packets)
            stop_ns = simulation.stop_ns
            for step in range(1, STEPS):
                if not simulation.run_until(stop_ns * step // STEPS):
                    break
                if progress:
                    progress(step / STEPS)
            tables = simulation.finish()
        except OSError as error:
            raise RunError(str(error)) from error
        if progress:
            progress(1.0)
        return Recording(tables)
